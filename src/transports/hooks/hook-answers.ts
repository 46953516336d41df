import type { JsonObject } from '../../kernel/json.ts';
import type { Client } from '../shared/agent-clients.ts';
import type { HookEvent, HookVerdict, Order } from './hook-call.ts';

const CLAUDE: Record<HookEvent, string> = {
  'session-start': 'SessionStart',
  'before-tool': 'PreToolUse',
  'after-tool': 'PostToolUse',
  'turn-end': 'Stop',
  'session-end': 'SessionEnd',
};

const GEMINI: Record<HookEvent, string> = {
  'session-start': 'SessionStart',
  'before-tool': 'BeforeTool',
  'after-tool': 'AfterTool',
  'turn-end': 'AfterAgent',
  'session-end': 'SessionEnd',
};

/** The client's own name for the event; Codex has adopted Claude Code's names. */
const NAMES: Record<Client, Record<HookEvent, string>> = {
  'claude-code': CLAUDE,
  codex: CLAUDE,
  'gemini-cli': GEMINI,
};

/** Claude Code's second name for the end of a tool: an answer under the first name is dropped. */
const FAILED_TOOL = 'PostToolUseFailure';

/**
 * The text for stdout; empty if there is nothing to say. `happened`: the client's own name for the event, as
 * it sent it.
 */
export function answerText(
  { client, event }: Pick<Order, 'client' | 'event'>,
  verdict: HookVerdict,
  happened = '',
): string {
  const isFailure = event === 'after-tool' && happened === FAILED_TOOL;
  const answer = answerOf(client, isFailure ? FAILED_TOOL : NAMES[client][event], verdict);
  return answer === undefined ? '' : `${JSON.stringify(answer)}\n`;
}

function answerOf(client: Client, name: string, verdict: HookVerdict): JsonObject | undefined {
  const { deny, ask, context, notice } = verdict;
  if (deny !== undefined) return denial(client, name, deny);
  if (ask !== undefined) return permission(name, 'ask', ask);
  if (context === undefined && notice === undefined) return undefined;
  const answer: JsonObject = {};
  if (notice !== undefined) answer.systemMessage = notice;
  // Gemini drops the context there, and would report that.
  if (context !== undefined && name !== GEMINI['before-tool'])
    answer.hookSpecificOutput = { hookEventName: name, additionalContext: context };
  return answer;
}

function denial(client: Client, name: string, reason: string): JsonObject {
  return client === 'gemini-cli' ? { decision: 'deny', reason } : permission(name, 'deny', reason);
}

function permission(name: string, decision: 'deny' | 'ask', reason: string): JsonObject {
  return {
    hookSpecificOutput: {
      hookEventName: name,
      permissionDecision: decision,
      permissionDecisionReason: reason,
    },
  };
}
