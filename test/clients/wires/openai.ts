import type { JsonObject } from '../../../src/kernel/json.ts';
import { DONE, events, json, objects, type ToolCall, textOf, type Wire } from './wire.ts';

function itemOf(call: ToolCall | undefined, nth: number): JsonObject {
  if (call === undefined)
    return {
      type: 'message',
      id: `m_${nth}`,
      role: 'assistant',
      content: [{ type: 'output_text', text: DONE }],
    };
  const { name, namespace, input } = call;
  const called = { id: `item_${nth}`, call_id: `call_${nth}`, name, namespace };
  return typeof input === 'string'
    ? { type: 'custom_tool_call', ...called, input }
    : { type: 'function_call', ...called, arguments: JSON.stringify(input) };
}

/** The Responses API, which Codex speaks. */
export const openai: Wire = {
  isTurn: (url) => url.startsWith('/v1/responses'),
  results: (body) =>
    objects(body.input)
      .filter(({ type }) => /_output$/.test(String(type)))
      .map(({ output }) => textOf(output)),
  answer(call, nth) {
    const id = `resp_${nth}`;
    const usage = {
      input_tokens: 1,
      input_tokens_details: null,
      output_tokens: 1,
      output_tokens_details: null,
      total_tokens: 2,
    };
    return events(
      [
        { type: 'response.created', response: { id } },
        { type: 'response.output_item.done', output_index: 0, item: itemOf(call, nth) },
        { type: 'response.completed', response: { id, usage } },
      ],
      true,
    );
  },
  aside: () => json({ object: 'list', data: [] }),
};
