import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { GitFailure } from '../../../child-process/git.ts';
import { resolveCommit } from '../../../child-process/plain-git.ts';
import { uuidFromKey } from '../../../kernel/ids.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { isRefusal, type Refusal, refuse } from '../../../kernel/refusal.ts';
import { invalid } from '../../../runtime/answer.ts';
import type { Connection } from '../../../runtime/coordinator.ts';
import type { Coxswain } from '../../../runtime/coxswain.ts';
import type { Terminal } from '../../../transports/cli/output/terminal.ts';
import {
  type CommonOptions,
  cliIdentity,
  cliShowing,
  withStore,
} from '../../../transports/cli/program/common.ts';
import { isPerson, personAuthority } from '../../../transports/cli/program/person.ts';
import { untilStopped } from '../../../transports/cli/program/signals.ts';
import { type Changeset, changesetKey, keptFiles } from '../../changesets/index.ts';
import { parsePolicies } from '../files/policy-file.ts';
import { verificationStatus } from '../operations/verification-operations.ts';
import { applyVerificationPolicies, receiveChange } from '../receive-change.ts';
import { everyExecutor } from '../runner/executors.ts';
import { Runner } from '../runner/runner.ts';
import { filesOfCommit } from '../runner/verified-files.ts';
import { keepWorking } from '../runner/working.ts';

export interface RunVerificationOptions extends CommonOptions {
  readonly base?: string;
  readonly force?: boolean;
  readonly watch?: boolean;
}

const CHANGESET_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const FILE_CHARS_MAX = 256 * 1024;

/** Routes a commit, does what this machine can do of it, and answers how it stands. */
export async function verify(
  named: string | undefined,
  options: RunVerificationOptions,
  terminal: Terminal,
): Promise<JsonObject> {
  return await withStore(options, terminal, async (coxswain) => {
    const connection = await connect(coxswain, options, terminal);
    if ('success' in connection) return connection;
    if (options.watch === true) return await watch(coxswain, terminal);
    const routed = await routeNamed(coxswain, connection, named ?? 'HEAD', options, terminal);
    if (isRefusal(routed)) return routed;
    await runAll(coxswain, connection, routed, terminal);
    const changeset_id = routed.changeset_id as string;
    return await connection.performBuilt(verificationStatus, { changeset_id });
  });
}

/** A caller with a person's key, or one that forces a run, connects as a person. */
async function connect(
  coxswain: Coxswain,
  options: RunVerificationOptions,
  terminal: Terminal,
): Promise<Connection | Refusal> {
  if (options.force === true || terminal.env.COX_PERSON_KEY) {
    const person = await personAuthority(coxswain, terminal);
    return isPerson(person) ? coxswain.connect(person.actor, 'person', cliShowing(terminal.env)) : person;
  }
  const who = cliIdentity(options, terminal.env);
  return who.ok ? coxswain.connect(who.actor, 'operator', cliShowing(terminal.env)) : who.refusal;
}

async function routeNamed(
  coxswain: Coxswain,
  connection: Connection,
  named: string,
  { base, force = false }: RunVerificationOptions,
  { env }: Terminal,
): Promise<JsonObject> {
  const place = { root: coxswain.workspace.root, env };
  try {
    const known = CHANGESET_ID.test(named) ? await changesetOf(coxswain, named) : undefined;
    if (CHANGESET_ID.test(named) && known === undefined)
      return invalid('commit', 'a commit, or a changeset that names one');
    const commit_sha = await resolveCommit(known?.commit_sha ?? named, place);
    const base_sha = base === undefined ? known?.base_sha : await resolveCommit(base, place);
    const seen = await filesOfCommit(commit_sha, base_sha, place);
    const { agent_id } = connection.actor;
    const changeset_id = known === undefined ? uuidFromKey(`commit\n${agent_id}\n${commit_sha}`) : named;
    const changeset = { files: keptFiles(seen.files), file_count: seen.files.length, commit_sha, base_sha };
    return await connection.performBuilt(receiveChange, { changeset_id, changeset, seen, force });
  } catch (error) {
    if (error instanceof GitFailure)
      return invalid('commit', `a commit of this repository (${error.message})`);
    throw error;
  }
}

async function changesetOf({ store, project }: Coxswain, id: string): Promise<Changeset | undefined> {
  const key = changesetKey(id);
  const { loaded } = await store.find(project, { keys: [key] });
  const changeset = loaded.get<Changeset>(key)?.state;
  return changeset?.commit_sha === undefined ? undefined : changeset;
}

/** Until nothing of it is left that can be done here. Ctrl-C ends what is under way. */
async function runAll(
  coxswain: Coxswain,
  connection: Connection,
  routed: JsonObject,
  terminal: Terminal,
): Promise<void> {
  const stopped = untilStopped();
  const stopping = new AbortController();
  void stopped.signal.then(() => stopping.abort());
  const { env } = terminal;
  const executors = everyExecutor();
  const runner = new Runner({ coxswain, connection, executors, root: coxswain.workspace.root, env });
  const wanted = new Set((routed.runs as JsonObject[]).map(({ run_id }) => run_id as string));
  try {
    while (!stopping.signal.aborted && (await runner.runNext(stopping.signal, wanted)) !== undefined);
    for (const why of await runner.leftOver(wanted)) await terminal.err(`cox verify: ${why}\n`);
  } finally {
    stopped.dispose();
  }
}

async function watch(coxswain: Coxswain, terminal: Terminal): Promise<JsonObject> {
  const stopped = untilStopped();
  const working = keepWorking(coxswain, everyExecutor(), terminal.env);
  await terminal.err('cox verify: taking runs as they come; stop with Ctrl-C.\n');
  await stopped.signal;
  stopped.dispose();
  await working.stop();
  return { success: true };
}

/** All policies of the file, or none. */
export async function applyPolicies(
  file: string,
  options: CommonOptions,
  terminal: Terminal,
): Promise<JsonObject> {
  let text: string;
  try {
    text = readFileSync(resolve(terminal.cwd, file), 'utf8');
  } catch (error) {
    return invalid('file', `a file that can be read (${(error as Error).message})`);
  }
  if (text.length > FILE_CHARS_MAX) return invalid('file', `at most ${FILE_CHARS_MAX} characters`);
  const parsed = parsePolicies(text);
  if (!parsed.ok) {
    const [first] = parsed.problems;
    const message = `${file}:${first?.line}: ${first?.field}: ${first?.reason}`;
    const errors = parsed.problems.map((problem) => ({ ...problem }));
    return refuse('invalid_input', message, { field: 'file', errors });
  }
  return await withStore(options, terminal, async (coxswain) => {
    const connection = await connect(coxswain, options, terminal);
    if ('success' in connection) return connection;
    return await connection.performBuilt(applyVerificationPolicies, { policies: parsed.policies });
  });
}
