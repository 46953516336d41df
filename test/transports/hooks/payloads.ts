import type { JsonObject } from '../../../src/kernel/json.ts';
import type { HookEvent } from '../../../src/transports/hooks/hook-call.ts';
import type { Client } from '../../../src/transports/shared/agent-clients.ts';

/** The client's own names of our events. */
const NAMES: Record<Client, Record<HookEvent, string>> = {
  'claude-code': {
    'session-start': 'SessionStart',
    'before-tool': 'PreToolUse',
    'after-tool': 'PostToolUse',
    'turn-end': 'Stop',
    'session-end': 'SessionEnd',
  },
  codex: {
    'session-start': 'SessionStart',
    'before-tool': 'PreToolUse',
    'after-tool': 'PostToolUse',
    'turn-end': 'Stop',
    'session-end': 'SessionEnd',
  },
  'gemini-cli': {
    'session-start': 'SessionStart',
    'before-tool': 'BeforeTool',
    'after-tool': 'AfterTool',
    'turn-end': 'AfterAgent',
    'session-end': 'SessionEnd',
  },
};

/** What each of them sends with every event. */
const COMMON: Record<Client, JsonObject> = {
  'claude-code': {
    session_id: '900f2062-2ad8-42d2-8974-bc58ec576924',
    transcript_path: '/a/transcript.jsonl',
    prompt_id: '518438bf-eaf4-4484-bdb5-0f107105e18d',
    permission_mode: 'acceptEdits',
    effort: { level: 'medium' },
  },
  codex: {
    session_id: '01a1e305-8b9e-7122-af2a-cbdedb62079a',
    turn_id: '01a1e305-8be5-7113-9375-24a0da9dbc36',
    transcript_path: '/a/rollout.jsonl',
    model: 'gpt-5',
    permission_mode: 'bypassPermissions',
  },
  'gemini-cli': {
    session_id: '46cc8233-13a3-4d4d-8338-17d5ef566c23',
    transcript_path: '/a/session.jsonl',
    timestamp: '2026-11-16T06:23:28.212Z',
  },
};

const EXTRA: Partial<Record<HookEvent, JsonObject>> = {
  'session-start': { source: 'startup' },
  'turn-end': { stop_hook_active: false, last_assistant_message: 'DONE' },
  'session-end': { reason: 'other' },
};

/** A payload as the client sends it; captured from the real ones. */
export function payloadOf(client: Client, event: HookEvent, cwd: string, rest: JsonObject = {}): JsonObject {
  const hook_event_name = NAMES[client][event];
  return { ...COMMON[client], cwd, hook_event_name, ...EXTRA[event], ...rest };
}

/** The tool call with which the client edits one file: absolute for Claude Code, as the model wrote it for the others. */
export function editOf(client: Client, cwd: string, file: string): JsonObject {
  if (client === 'claude-code')
    return {
      tool_name: 'Edit',
      tool_input: { file_path: `${cwd}/${file}`, old_string: 'one', new_string: 'two', replace_all: false },
      tool_use_id: 'toolu_2',
    };
  // Codex's stand-in for a patch is a redirection: both name the file relative to the call's folder.
  if (client === 'codex')
    return { tool_name: 'Bash', tool_input: { command: `echo two > ${file}` }, tool_use_id: 'call_1' };
  return {
    tool_name: 'replace',
    tool_input: { file_path: file, instruction: 'x', old_string: 'one', new_string: 'two' },
  };
}

/** What the client adds to it afterwards. */
export function responseOf(client: Client): JsonObject {
  if (client === 'codex') return { tool_response: '' };
  if (client === 'gemini-cli')
    return {
      tool_response: { llmContent: 'Successfully modified file', returnDisplay: { fileName: 'a.txt' } },
    };
  return { tool_response: { filePath: 'a.txt', originalFile: 'one\n', userModified: false }, duration_ms: 7 };
}
