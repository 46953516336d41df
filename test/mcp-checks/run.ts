// The public MCP conformance runner and the MCP inspector's command line against our door: node test/mcp-checks/run.ts
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { REVISIONS, runConformance } from './conformance.ts';
import { NOT_APPLICABLE } from './expected.ts';
import { startFixture } from './fixture.ts';
import { inspect, type Target } from './inspector.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const tool = (name: string) => join(import.meta.dirname, 'node_modules', '.bin', name);

async function checkConformance(folder: string): Promise<string[]> {
  const excused = new Set<string>();
  const failures: string[] = [];
  for (const revision of REVISIONS) {
    await using fixture = await startFixture(folder);
    const verdict = await runConformance(tool('conformance'), fixture.url, revision, folder);
    for (const key of verdict.excused) excused.add(key);
    failures.push(...verdict.failures.map((failure) => `conformance ${revision}: ${failure}`));
    if (verdict.passed === 0) failures.push(`conformance ${revision}: nothing was checked`);
    const counts = `${verdict.passed} checks passed, ${verdict.failures.length} failed`;
    console.log(`conformance ${revision}: ${counts}, ${verdict.excused.size} not applicable`);
  }
  for (const key of Object.keys(NOT_APPLICABLE))
    if (!excused.has(key)) failures.push(`expected.ts lists ${key}, which does not fail`);
  return failures;
}

async function checkInspector(folder: string): Promise<string[]> {
  await using fixture = await startFixture(folder);
  const cox = [
    process.execPath,
    join(root, 'bin', 'cox'),
    'mcp',
    '--store',
    `sqlite:${join(folder, 'cox.db')}`,
  ];
  const http = [fixture.url, '--transport', 'http', '--header', 'X-Agent-Id: inspector'];
  const targets: Target[] = [
    { name: 'stdio', args: cox },
    { name: 'HTTP with a session', args: http },
    { name: 'HTTP without sessions (2026-07-28)', args: [...http, '--protocol-era', 'modern'] },
  ];
  const failures: string[] = [];
  for (const target of targets)
    try {
      const commands = await inspect(tool('mcp-inspector'), target, folder);
      console.log(`inspector over ${target.name}: ${commands} commands, all answered as expected`);
    } catch (error) {
      failures.push(
        `inspector over ${target.name}: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  return failures;
}

const installer = [join(root, 'scripts', 'install-missing.mjs'), join('test', 'mcp-checks')];
if (spawnSync(process.execPath, installer, { stdio: 'inherit' }).status !== 0) process.exit(1);
const folder = mkdtempSync(join(tmpdir(), 'cox-mcp-checks-'));
try {
  const failures = [...(await checkConformance(folder)), ...(await checkInspector(folder))];
  for (const failure of failures) console.error(`✖ ${failure}`);
  console.log(failures.length === 0 ? 'MCP checks: all passed' : `MCP checks: ${failures.length} failed`);
  process.exitCode = failures.length === 0 ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
