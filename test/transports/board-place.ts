import { readFileSync } from 'node:fs';
import type { JsonObject } from '../../src/kernel/json.ts';
import { main } from '../../src/transports/cli/main.ts';
import { layBoard, says } from '../features/board/scene.ts';
import { fakeTerminal, type Scratch, scratch } from './support.ts';

export interface BoardPlace extends Scratch {
  /** Lines that agents wrote into `$TRACE`. */
  trace(): string[];
}

/** A folder with a board's file and its agents as shell scripts. */
export function boardPlace(yaml: string, scripts: Record<string, string>): BoardPlace {
  const place = scratch();
  const trace = layBoard(place.folder, yaml, scripts);
  return { ...place, trace: () => readFileSync(trace, 'utf8').split('\n').filter(Boolean) };
}

/** A writer, a reviewer that sends everything back once, and a publisher behind the review. */
export const LOOP = {
  yaml: `version: "1.0"
agents:
  writer: {role: Writer, command: [./writer.sh], bidding_strategy: {type: exclusive, target_types: [GoalDefined]}}
  reviewer: {role: Reviewer, command: [./reviewer.sh], bid_script: [./bid.sh]}
  publisher: {role: Publisher, command: [./publisher.sh], bidding_strategy: {type: claim, target_types: [Draft]}}
`,
  scripts: {
    'writer.sh': `case "$INPUT" in *'"rework":true'*) ${says('Draft', 'second')} ;; *) ${says('Draft', 'first')} ;; esac`,
    'bid.sh': `case "$INPUT" in *'"type":"Draft"'*) echo review ;; *) echo ignore ;; esac`,
    'reviewer.sh': `case "$INPUT" in *'"payload":"first"'*) ${says('Review', 'add an example')} ;; *) ${says('Review', '{}')} ;; esac`,
    'publisher.sh': says('Page', 'out', 'Terminal'),
  },
} as const;

/** In this process, as if typed. */
export async function typed(place: Scratch, words: readonly string[], columns = 120) {
  const { terminal, written } = fakeTerminal(place.folder, {
    COX_STORE: place.store,
    PATH: process.env.PATH ?? '',
  });
  const code = await main([...words], { ...terminal, columns });
  return { code, ...written };
}

export async function typedJson(place: Scratch, ...words: string[]): Promise<JsonObject & { code: number }> {
  const { code, out } = await typed(place, [...words, '--json']);
  return { ...(JSON.parse(out) as JsonObject), code };
}

/** Of several lines, each. */
export function objectsIn(text: string): JsonObject[] {
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as JsonObject);
}
