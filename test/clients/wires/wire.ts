import type { JsonObject } from '../../../src/kernel/json.ts';

/** What the stand-in says instead of a model: call this tool. */
export interface ToolCall {
  readonly name: string;
  /** Text for a tool that takes free text. */
  readonly input: JsonObject | string;
  readonly namespace?: string;
}

export interface HttpAnswer {
  readonly type: 'application/json' | 'text/event-stream';
  readonly text: string;
}

/** One vendor's HTTP API, as far as its client needs it. */
export interface Wire {
  /** A turn of the conversation; clients also ask for titles, token counts and lists of models. */
  isTurn(url: string, body: JsonObject): boolean;
  /** What the tools answered so far, as the model is shown it. */
  results(body: JsonObject): string[];
  /** No call: the model is done. `nth` numbers the answers of a conversation. */
  answer(call: ToolCall | undefined, nth: number, body: JsonObject): HttpAnswer;
  aside(url: string, body: JsonObject): HttpAnswer;
}

/** What the stand-in says when it is done. */
export const DONE = 'That is all.';

export function json(value: JsonObject): HttpAnswer {
  return { type: 'application/json', text: JSON.stringify(value) };
}

export function events(list: readonly JsonObject[], named: boolean): HttpAnswer {
  const text = list.map((event) => {
    const data = `data: ${JSON.stringify(event)}\n\n`;
    return named ? `event: ${event.type}\n${data}` : data;
  });
  return { type: 'text/event-stream', text: text.join('') };
}

/** The objects of an array in a request, whatever else the client puts there. */
export function objects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'object' && item !== null) : [];
}

/** A result is a text or a list of parts with texts. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return objects(content)
    .map((part) => (typeof part.text === 'string' ? part.text : JSON.stringify(part)))
    .join('\n');
}
