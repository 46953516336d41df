import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gist, type Run, runChild } from '../../../child-process/bounded-child.ts';
import { acquireLock } from '../../../features/locks/index.ts';
import { open } from '../../../index.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { AgentClient } from '../init/clients/client-setup.ts';
import type { ConfiguredHook } from './configured.ts';
import { type DoctorFinding, ok, wrong } from './doctor-finding.ts';

const LIMIT_MS = 15_000;
const DOCTOR = { agent_id: 'cox-doctor', agent_type: 'cox-doctor', session_id: 'cox-doctor' };
const OTHER = { agent_id: 'somebody-else', agent_type: 'cox-doctor', session_id: 'somebody-else' };

interface Stage {
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Runs exactly what the client would run, but where it can do no harm: in its own folder with its own store
 * and two locked files.
 */
export async function checkHooks(
  client: AgentClient,
  hooks: readonly ConfiguredHook[],
  env: NodeJS.ProcessEnv,
): Promise<DoctorFinding[]> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cox-doctor-')));
  const store = `sqlite:${join(folder, 'store', 'cox.db')}`;
  try {
    const coxswain = await open({ store, cwd: folder, presence: 'off' });
    try {
      await coxswain.connect(OTHER).perform(acquireLock, { file_path: 'held.txt', reason: 'cox doctor' });
      await coxswain.connect(DOCTOR).perform(acquireLock, { file_path: 'own.txt', reason: 'cox doctor' });
    } finally {
      await coxswain.close();
    }
    const stage = { folder, env: { ...env, ...environment(folder, store) } };
    const findings: DoctorFinding[] = [];
    for (const hook of hooks) findings.push(await tryHook(client, hook, stage));
    return summed(client, findings);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Keeps the real store and the hooks' own notes out, and uses an identity that no client has. */
function environment(folder: string, store: string): NodeJS.ProcessEnv {
  const { agent_id, agent_type, session_id } = DOCTOR;
  const who = { AGENT_ID: agent_id, AGENT_TYPE: agent_type, SESSION_ID: session_id };
  return { ...who, COX_STORE: store, COX_PROJECT: '', COX_STATE_DIR: join(folder, 'state') };
}

async function tryHook(
  client: AgentClient,
  { event, command }: ConfiguredHook,
  stage: Stage,
): Promise<DoctorFinding> {
  const check = `${client.name} ${event}`;
  const fix = 'Run `cox init` to write the command anew.';
  // The one difference from the configuration: this check must not reach the configured store.
  const line = command.replace(/ --store (?:"(?:\\.|[^"\\])*"|\S+)/, '');
  const run = (file: string) =>
    runChild(line, [], {
      cwd: stage.folder,
      env: stage.env,
      input: JSON.stringify(payload(client, event, stage.folder, file)),
      shell: true,
      limit_ms: LIMIT_MS,
    });
  const failed = (result: Run) =>
    wrong(check, `${command}: ${gist(result.err) || `ended with code ${result.code}`}`, fix);
  const own = await run('own.txt');
  if (own.code !== 0) return failed(own);
  if (event !== 'before-tool') return ok(check, `${Math.round(own.took_ms)} ms`);
  if (denies(own)) return wrong(check, `denies a file that is one's own: ${own.out.slice(0, 200)}`, fix);
  const held = await run('held.txt');
  if (held.code !== 0 && held.code !== 2) return failed(held);
  const warns = / --locks "?warn\b/.test(command);
  if (warns)
    return held.out.includes(OTHER.agent_id)
      ? ok(check, 'warns of a held file')
      : wrong(check, 'does not warn of a held file', fix);
  if (!denies(held)) return wrong(check, 'does not deny a file that somebody else holds', fix);
  return ok(check, `denies a held file, passes one's own, ${Math.round(held.took_ms)} ms`);
}

/** Each client has its own format for a denial; exit code 2 is understood by all three. */
function denies({ code, out }: Run): boolean {
  if (code === 2) return true;
  try {
    const { decision, hookSpecificOutput } = JSON.parse(out) as {
      decision?: string;
      hookSpecificOutput?: JsonObject;
    };
    return decision === 'deny' || decision === 'block' || hookSpecificOutput?.permissionDecision === 'deny';
  } catch {
    return false;
  }
}

/** In the format the real clients send. */
function payload({ name }: AgentClient, event: string, cwd: string, file: string): JsonObject {
  const common = { session_id: DOCTOR.session_id, transcript_path: '', cwd };
  if (event !== 'before-tool')
    return { ...common, hook_event_name: EVENT_NAMES[event] ?? event, ...LIFECYCLE[event] };
  const file_path = join(cwd, file);
  switch (name) {
    case 'claude-code':
      return {
        ...common,
        hook_event_name: 'PreToolUse',
        tool_name: 'Write',
        tool_input: { file_path, content: 'x' },
      };
    case 'codex':
      return {
        ...common,
        hook_event_name: 'PreToolUse',
        tool_name: 'Bash',
        tool_input: { command: `echo x > ${file}` },
      };
    case 'gemini-cli':
      return {
        ...common,
        hook_event_name: 'BeforeTool',
        tool_name: 'write_file',
        tool_input: { file_path, content: 'x' },
      };
  }
}

const EVENT_NAMES: Readonly<Record<string, string>> = {
  'session-start': 'SessionStart',
  'after-tool': 'PostToolUse',
  'turn-end': 'Stop',
  'session-end': 'SessionEnd',
};

const LIFECYCLE: Readonly<Record<string, JsonObject>> = {
  'session-start': { source: 'startup' },
  'after-tool': { tool_name: 'Read', tool_input: {}, tool_response: {} },
  'turn-end': { stop_hook_active: false },
  'session-end': { reason: 'other' },
};

/** One line when all is well; else one for each that is not. */
function summed({ name }: AgentClient, findings: readonly DoctorFinding[]): DoctorFinding[] {
  const bad = findings.filter(({ status }) => status !== 'ok');
  if (bad.length > 0) return bad;
  const before = findings.find(({ check }) => check.endsWith('before-tool'));
  return [
    ok(`${name} hooks`, `${findings.length} of them run${before === undefined ? '' : `; ${before.message}`}`),
  ];
}
