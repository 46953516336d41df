/**
 * A process to be killed: `node worker.ts URL FOLDER STEP COMMAND…` runs `cox COMMAND…` and, when the given step is
 * reached, says so and stands still for ever. Steps: `finish` of an archive, or the record of the n-th removal: its rows are
 * deleted by then, and nothing is committed.
 */
import { writeSync } from 'node:fs';
import { ArchiveWriter } from '../../../src/features/audit/cli/archive-file.ts';
import { Statements } from '../../../src/stores/sqlite/statements.ts';
import { main } from '../../../src/transports/cli/main.ts';

const [url = '', folder = '', step = '', ...command] = process.argv.slice(2);

function standStill(): never {
  writeSync(1, 'reached\n');
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

if (step === 'finish') ArchiveWriter.prototype.finish = async () => standStill();
else {
  const append = Statements.prototype.append;
  let left = Number(step);
  Statements.prototype.append = function counted(this: Statements, ...args: Parameters<typeof append>) {
    if (/^(prune|archive)_audit$/.test(args[1].operation)) {
      left -= 1;
      if (left === 0) standStill();
    }
    append.apply(this, args);
  };
}

process.exitCode = await main([...command, '--store', url, '--json'], {
  env: {},
  cwd: folder,
  columns: 80,
  out: async (text) => {
    writeSync(1, text);
  },
  err: async () => {},
});
