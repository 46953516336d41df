// The real agent clients against our doors, with a stand-in for their models: node test/clients/run.ts [part of a title]
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { programs, root } from './place.ts';
import { clients, versionOf } from './vendors/all.ts';
import type { Client } from './vendors/client.ts';

const START_MS_MAX = 30_000;
const CHECK_MS_MAX = 120_000;

/** A client that is there has to run; one that could not be had is said so, and the others are checked. */
function look(client: Client, canInstall: boolean): 'runs' | 'absent' | 'broken' {
  const version = versionOf(client);
  if (version === undefined) {
    console.error(`\n✖✖✖ NOT CHECKED: ${client.name}; ${client.package} could not be installed.\n`);
    return canInstall ? 'broken' : 'absent';
  }
  const program = join(programs, client.program);
  const HOME = mkdtempSync(join(tmpdir(), 'cox-clients-'));
  const { status, stdout, stderr } = spawnSync(program, ['--version'], {
    encoding: 'utf8',
    env: { HOME, PATH: [dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter) },
    timeout: START_MS_MAX,
  });
  rmSync(HOME, { recursive: true, force: true, maxRetries: 5 });
  if (status === 0) {
    console.log(`${client.name}: ${client.package} ${version} says ${stdout.trim()}`);
    return 'runs';
  }
  console.error(`✖ ${client.name}: ${program} --version failed:\n${stdout}${stderr}`);
  return 'broken';
}

function check(title: string | undefined): boolean {
  const files = [
    'alone.check.ts',
    'pairs.check.ts',
    'worktrees.check.ts',
    'guardrails.check.ts',
    'shells.check.ts',
  ].map((name) => join(import.meta.dirname, name));
  // One client at a time: each takes a core and half a gigabyte.
  const flags = ['--test', '--test-concurrency=1', `--test-timeout=${CHECK_MS_MAX}`];
  const chosen = title === undefined ? [] : [`--test-name-pattern=${title}`];
  const { status } = spawnSync(process.execPath, [...flags, ...chosen, ...files], { stdio: 'inherit' });
  return status === 0;
}

const start_ms = performance.now();
const installer = [join(root, 'scripts', 'install-missing.mjs'), join('test', 'clients')];
const canInstall = spawnSync(process.execPath, installer, { stdio: 'inherit' }).status === 0;
const found = clients.map((client) => look(client, canInstall));
const checksPassed = !found.includes('runs') || check(process.argv[2]);
const passed = checksPassed && !found.includes('broken');
const seconds = ((performance.now() - start_ms) / 1000).toFixed(0);
const checked = found.filter((each) => each === 'runs').length;
console.log(
  `clients: ${checked} of ${clients.length} checked, ${passed ? 'passed' : 'failed'} (${seconds} s)`,
);
process.exitCode = passed ? 0 : 1;
