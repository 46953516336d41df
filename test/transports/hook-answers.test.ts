import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerText } from '../../src/transports/hooks/hook-answers.ts';
import { readCall } from '../../src/transports/hooks/hook-call.ts';

const order = { client: 'claude-code', event: 'after-tool' } as const;

test('[HOOK-1] after a tool that failed, Claude Code is answered under the name it asked with', () => {
  for (const name of ['PostToolUse', 'PostToolUseFailure']) {
    const { happened } = readCall(JSON.stringify({ hook_event_name: name }), '/');
    const { hookSpecificOutput } = JSON.parse(answerText(order, { context: 'mail' }, happened));
    assert.deepEqual(hookSpecificOutput, { hookEventName: name, additionalContext: 'mail' });
  }
});

test('[HOOK-1] no other word of a payload becomes the name of an answer', () => {
  const { happened } = readCall('{"hook_event_name":"PostToolUseFailure"}', '/');
  for (const [event, name] of [
    ['before-tool', 'PreToolUse'],
    ['session-start', 'SessionStart'],
  ] as const) {
    const answer = JSON.parse(answerText({ ...order, event }, { context: 'c' }, happened));
    assert.equal(answer.hookSpecificOutput.hookEventName, name);
  }
  assert.match(answerText(order, { context: 'c' }, 'PreToolUse'), /"PostToolUse"/);
});
