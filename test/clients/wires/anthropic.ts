import type { JsonObject } from '../../../src/kernel/json.ts';
import { DONE, events, type HttpAnswer, json, objects, type ToolCall, textOf, type Wire } from './wire.ts';

function message(body: JsonObject, nth: number): JsonObject {
  return {
    id: `msg_${nth}`,
    type: 'message',
    role: 'assistant',
    model: body.model,
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1 },
  };
}

function answer(call: ToolCall | undefined, nth: number, body: JsonObject): HttpAnswer {
  const stop_reason = call === undefined ? 'end_turn' : 'tool_use';
  const block: JsonObject =
    call === undefined
      ? { type: 'text', text: DONE }
      : { type: 'tool_use', id: `toolu_${nth}`, name: call.name, input: call.input };
  if (body.stream !== true) return json({ ...message(body, nth), content: [block], stop_reason });
  const empty = call === undefined ? { text: '' } : { input: {} };
  const delta: JsonObject =
    call === undefined
      ? { type: 'text_delta', text: DONE }
      : { type: 'input_json_delta', partial_json: JSON.stringify(call.input) };
  return events(
    [
      { type: 'message_start', message: { ...message(body, nth), content: [], stop_reason: null } },
      { type: 'content_block_start', index: 0, content_block: { ...block, ...empty } },
      { type: 'content_block_delta', index: 0, delta },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 1 } },
      { type: 'message_stop' },
    ],
    true,
  );
}

/** The Messages API, which Claude Code speaks. */
export const anthropic: Wire = {
  isTurn: (url, body) => /^\/v1\/messages(\?|$)/.test(url) && objects(body.tools).length > 0,
  results: (body) =>
    objects(body.messages)
      .flatMap(({ content }) => objects(content))
      .filter(({ type }) => type === 'tool_result')
      .map(({ content }) => textOf(content)),
  answer,
  aside: (url, body) => (/count_tokens/.test(url) ? json({ input_tokens: 1 }) : answer(undefined, 0, body)),
};
