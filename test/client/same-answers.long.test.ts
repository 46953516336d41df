import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { methodName } from '../../src/client/method-names.ts';
import { connect } from '../../src/index.ts';
import { operations } from '../../src/runtime/operation-list.ts';
import { scratch } from '../transports/support.ts';
import { type Told, tell } from './story.ts';
import { KEY, serve } from './support.ts';

const identityOf = (agent_id: string) => ({ agent_id, agent_type: 'tester', session_id: `s-${agent_id}` });

async function tellLocally(): Promise<Told[]> {
  using place = scratch();
  const where = { store: place.store, cwd: place.folder };
  await using alice = await connect({ ...where, ...identityOf('alice') });
  await using bob = await connect({ ...where, ...identityOf('bob') });
  return await tell(alice, bob);
}

async function tellRemotely(): Promise<Told[]> {
  using place = scratch();
  await using server = await serve(place);
  const where = { url: server.url, api_key: KEY };
  await using alice = await connect({ ...where, ...identityOf('alice') });
  await using bob = await connect({ ...where, ...identityOf('bob') });
  return await tell(alice, bob);
}

/** Ids, times and tokens differ from run to run; which of them are the same does not. */
function normalised(told: readonly Told[]): Told[] {
  const seen = new Map<string, string>();
  const same = (value: string) => {
    if (!seen.has(value)) seen.set(value, `#${seen.size}`);
    return seen.get(value) ?? '';
  };
  const text = JSON.stringify(told)
    .replaceAll(/coxs_[\w.-]+/g, 'SESSION_TOKEN')
    .replaceAll(/[^"\\]*cox-door-\w+/g, 'FOLDER')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/"waited_seconds":[\d.]+/g, '"waited_seconds":0')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, same)
    .replaceAll(/\b1\d{12}\b/g, '0');
  return JSON.parse(text) as Told[];
}

const local = await tellLocally();

test('client: the same calls on a store and on a server are answered the same', async () => {
  const remote = await tellRemotely();
  assert.deepEqual(normalised(remote), normalised(local));
  const told = new Set<string>(local.map(({ method }) => method));
  // The story is about what there was when it was written; later operations have their own tests.
  const left_out = operations.map(({ name }) => methodName(name)).filter((method) => !told.has(method));
  assert.ok(told.size >= 26, `not told about: ${left_out.join(', ')}`);
});

test('client: what is answered has the type that the method says', () => {
  const folder = fileURLToPath(new URL('./', import.meta.url));
  const path = `${folder}answers-as-code.ts`;
  const lines = local.map(
    ({ method, answer }, index) =>
      `export const a${index}: Awaited<ReturnType<Client['${method}']>> = ${JSON.stringify(answer)};\n`,
  );
  const text = `import type { Client } from '../../src/index.ts';\n${lines.join('')}`;
  assert.deepEqual(complaints(path, text), []);
  const wrong = `import type { Client } from '../../src/index.ts';
    export const x: Awaited<ReturnType<Client['heartbeat']>> = {"success":true,"session":"s"};`;
  assert.equal(complaints(path, wrong).length, 1, 'the check no longer finds what it is for');
});

/** What the compiler says about a file that exists only here. */
function complaints(path: string, text: string): string[] {
  const config = ts.readConfigFile(
    fileURLToPath(new URL('../../tsconfig.json', import.meta.url)),
    ts.sys.readFile,
  );
  const { options } = ts.parseJsonConfigFileContent(
    config.config,
    ts.sys,
    fileURLToPath(new URL('../..', import.meta.url)),
  );
  const host = ts.createCompilerHost(options);
  const { getSourceFile } = host;
  host.getSourceFile = (name, ...rest) =>
    name === path ? ts.createSourceFile(name, text, ts.ScriptTarget.Latest) : getSourceFile(name, ...rest);
  const program = ts.createProgram([path], options, host);
  return program
    .getSemanticDiagnostics(program.getSourceFile(path))
    .map(
      ({ messageText, start }) =>
        `${ts.flattenDiagnosticMessageText(messageText, ' ')} in ${text.slice(start, (start ?? 0) + 300)}`,
    );
}
