import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const EXAMPLE = fileURLToPath(new URL('../../../examples/review-loop/run.ts', import.meta.url));

test('[PHASE-2] [PHASE-6] npm run example: rejection, rework and approval, live; the same from the log; nothing is left', () => {
  const folder = mkdtempSync(join(tmpdir(), 'cox-example-test-'));
  try {
    const env = { ...process.env, TMPDIR: folder, NODE_COMPILE_CACHE: join(tmpdir(), 'node-compile-cache') };
    const { status, stdout, stderr } = spawnSync(process.execPath, [EXAMPLE], { encoding: 'utf8', env });
    assert.deepEqual([status, stderr], [0, ''], stdout);
    const story = [
      /\$ cox forage "a page about oars"\n/,
      /\$ cox up --until-idle\n/,
      /reviewer sends Draft …(\w+) back: give an example with a number in it\n.*Draft …\1 goes back to writer\n/,
      /writer delivers Draft …\w+ \(version 2\): did what was asked/,
      /reviewer approves Draft/,
      /publisher delivers CodeCommit/,
      /\$ cox unearth [\s\S]*version 2 of 2, sent back once/,
      /\$ git show \w+:oars\.md\n[\s\S]*Example: /,
      /\$ cox replay\nequal +yes\n/,
      /replays to the same end: yes\.\n$/,
    ];
    let rest = stdout;
    for (const expected of story) {
      const found = expected.exec(rest);
      assert.ok(found, `${expected} in ${rest}`);
      rest = rest.slice(found.index);
    }
    const scratch = readdirSync(folder).filter((name) => name.startsWith('cox-example-'));
    assert.deepEqual(scratch, []);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
