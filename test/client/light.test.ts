import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';

const ENTRY = new URL('../../src/index.ts', import.meta.url).href;

/** The files and built-in modules that a program has loaded after it has connected like this. */
function loaded(options: object): string[] {
  const program = `
    import { registerHooks } from 'node:module';
    const seen = [];
    registerHooks({ load(url, context, next) { seen.push(url); return next(url, context); } });
    const { connect } = await import('${ENTRY}');
    const client = await connect(${JSON.stringify(options)});
    await client.heartbeat();
    await client.close();
    console.log(JSON.stringify(seen));`;
  const flags = ['--input-type=module', '--no-warnings', '--eval', program];
  return JSON.parse(execFileSync(process.execPath, flags, { encoding: 'utf8' })) as string[];
}

const HEAVY =
  /\/src\/(features|stores|ledger|command-analysis)\/|\/node_modules\/(zod|pg|yaml)\/|node:sqlite|coordinator/;

test('client: of a server loads no store, no slice and no schema', () => {
  const files = loaded({ url: 'http://127.0.0.1:9', timeout_ms: 50 });
  assert.deepEqual(
    files.filter((file) => HEAVY.test(file)),
    [],
  );
  const own = files.filter((file) => file.includes('/src/'));
  assert.ok(own.length <= 20, own.join('\n'));
  assert.ok(
    loaded({ store: 'memory:' }).some((file) => HEAVY.test(file)),
    'the walk sees what is loaded',
  );
});
