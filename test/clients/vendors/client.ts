import type { JsonObject } from '../../../src/kernel/json.ts';
import type { Place } from '../place.ts';
import type { ToolCall, Wire } from '../wires/wire.ts';

/** An edit of a file of the repository. */
export interface Edit {
  readonly path: string;
  readonly before: string;
  readonly after: string;
}

/** How one real client is run and what its tools are called. */
export interface Client {
  readonly name: 'claude-code' | 'codex' | 'gemini-cli';
  readonly package: string;
  readonly program: string;
  readonly wire: Wire;
  environment(model_url: string): Record<string, string>;
  /** One prompt, no person at the keyboard. */
  words(model_url: string): string[];
  /** What a person has done in the client itself by now: signed in. */
  settle(place: Place): Promise<void>;
  /** Asks for its list of servers, and what it says when ours is as it should be. */
  readonly list: { readonly words: readonly string[]; readonly connected: RegExp };
  /** The calls it takes with the tool for edits; the last one changes the file. */
  edit(edit: Edit, place: Place): readonly ToolCall[];
  shell(command: string): ToolCall;
  /** A tool of our server. */
  mcp(tool: string, input: JsonObject): ToolCall;
}
