import type { JsonObject } from '../../../src/kernel/json.ts';
import { DONE, events, json, objects, type ToolCall, type Wire } from './wire.ts';

function content(call: ToolCall | undefined): JsonObject {
  const part: JsonObject =
    call === undefined ? { text: DONE } : { functionCall: { name: call.name, args: call.input } };
  return {
    candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
  };
}

/** generateContent, which Gemini CLI speaks. */
export const gemini: Wire = {
  isTurn: (url, body) => /:streamGenerateContent/.test(url) && objects(body.tools).length > 0,
  results: (body) =>
    objects(body.contents)
      .flatMap(({ parts }) => objects(parts))
      .flatMap(({ functionResponse }) => objects([functionResponse]))
      .map(({ response }) => Object.values(response as JsonObject).join('\n')),
  answer: (call) => events([content(call)], false),
  aside(url) {
    if (/:countTokens/.test(url)) return json({ totalTokens: 1 });
    return /:stream/.test(url) ? events([content(undefined)], false) : json(content(undefined));
  },
};
