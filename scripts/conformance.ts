// `npm run conformance`, or `STORE=files npm run conformance`: the one suite that every store passes, on one of them or on all.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const store = process.env.STORE ?? '';
const runner = fileURLToPath(new URL('test.ts', import.meta.url));

if (!existsSync(new URL(`../test/conformance/${store || 'memory'}.test.ts`, import.meta.url))) {
  console.error(
    `STORE=${store}: expected memory, sqlite, files, postgres or dynamodb; without one, all of them.`,
  );
  process.exit(2);
}
// Also what has its turn in the long run.
const filter = `test/conformance/${store}`;
// Who asks for one store wants to know that it was tested.
const env = store === 'dynamodb' ? { COX_TEST_REQUIRE_JAVA: '1', ...process.env } : process.env;
const [code] = await once(spawn(process.execPath, [runner, filter], { stdio: 'inherit', env }), 'close');
process.exitCode = code ?? 1;
