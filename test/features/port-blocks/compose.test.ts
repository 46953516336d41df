import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { envSnippet, portBlock } from '../../../src/features/port-blocks/port-block.ts';

const text = readFileSync(new URL('../../../deploy/supabase/docker-compose.yml', import.meta.url), 'utf8');

/** As compose does it: `${NAME:-default}`, and `$$` for a dollar sign. */
function resolved(env: Record<string, string>): string {
  return text.replaceAll(/\$\$|\$\{(\w+):-([^}]*)\}/g, (whole, name: string, standard: string) =>
    whole === '$$' ? '$' : env[name] || standard,
  );
}

/** The entries of every `ports:` list, as `address:host:container`. */
function published(yaml: string): string[] {
  const lists = yaml.matchAll(/^( +)ports:\n((?:\1 +- .*\n)+)/gm);
  return [...lists].flatMap(([, , list = '']) =>
    [...list.matchAll(/- (.*)/g)].map(([, entry = '']) => entry),
  );
}

function environmentOf(session_id: string, db_port: number): Record<string, string> {
  const lines = envSnippet(portBlock(session_id, db_port)).split('\n');
  return Object.fromEntries(
    lines.map((line) => line.replace('export ', '').split(/=(.*)/s).slice(0, 2) as [string, string]),
  );
}

const hostPorts = (env: Record<string, string>) =>
  published(resolved(env)).map((entry) => Number(entry.split(':')[1]));
const projectOf = (env: Record<string, string>) => /^name: (.*)$/m.exec(resolved(env))?.[1];

test('[PORT-7] every published port is a variable of the snippet, open to this machine only', () => {
  assert.deepEqual(published(text), [
    '127.0.0.1:${' + 'AGENT_COORDINATOR_DB_PORT:-54322}:5432',
    '127.0.0.1:${' + 'AGENT_COORDINATOR_REST_PORT:-3000}:3000',
    '127.0.0.1:${' + 'AGENT_COORDINATOR_REALTIME_PORT:-4000}:4000',
  ]);
  assert.equal(text.match(/\bports:/g)?.length, 3, 'and there is no other way of writing them');
  assert.deepEqual(hostPorts({}), [54_322, 3000, 4000]);
  assert.equal(projectOf({}), 'coxswain');
});

test('[PORT-7] two sessions’ stacks share no port, no project, and no name beside it', () => {
  const one = environmentOf('worktree-1', 20_000);
  const two = environmentOf('worktree-2', 20_050);
  assert.deepEqual(hostPorts(one), [20_000, 20_001, 20_002]);
  assert.deepEqual(hostPorts(two), [20_050, 20_051, 20_052]);
  assert.deepEqual([projectOf(one), projectOf(two)], [one.COMPOSE_PROJECT_NAME, two.COMPOSE_PROJECT_NAME]);
  assert.notEqual(projectOf(one), projectOf(two));
  // What has a name of its own, or is not the project's, both stacks would fight for.
  assert.doesNotMatch(text, /container_name|network_mode|external:|^ {4}name:/m);
  assert.doesNotMatch(text, /^ *- \.{0,2}\//m, 'nothing of the host is mounted');
});
