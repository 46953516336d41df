import { findNodeAtLocation, getNodeValue } from 'jsonc-parser';
import { canonical, type Json, type JsonObject } from '../../../kernel/json.ts';
import { appendJson, parseJson, removeJson, setJson } from './json-text.ts';

/**
 * One entry under an event: the tools it applies to and the commands it runs. All three clients use this
 * shape.
 */
export interface HookGroup extends JsonObject {
  matcher?: string;
  hooks: JsonObject[];
}

export type HookEvents = Readonly<Record<string, HookGroup>>;

const OURS =
  /(?:^|[\\/"'\s])(?:hook\.cjs["']?|cox["']?\s+hook)\s+["']?(claude-code|codex|gemini-cli)["']?\s+["']?(session-start|before-tool|after-tool|turn-end|session-end)\b/;

/** Which of our hooks a command is, in whichever checkout it points to. */
export function ourHook(command: unknown): { client: string; event: string } | undefined {
  const [, client, event] = (typeof command === 'string' ? OURS.exec(command) : null) ?? [];
  return client === undefined || event === undefined ? undefined : { client, event };
}

interface Found {
  readonly event: string;
  readonly group: number;
  readonly value: Json;
  /** Which of the group's hooks are ours. */
  readonly ours: readonly number[];
  /** The group contains nothing else. */
  readonly alone: boolean;
}

function findOurs(text: string, path: string): Found[] {
  const node = findNodeAtLocation(parseJson(text, path), ['hooks']);
  const events = node?.type === 'object' ? (getNodeValue(node) as JsonObject) : {};
  return Object.entries(events).flatMap(([event, groups]) =>
    (Array.isArray(groups) ? groups : []).flatMap((value, group) => {
      const hooks = (value as JsonObject | null)?.hooks;
      const list = Array.isArray(hooks) ? (hooks as (JsonObject | null)[]) : [];
      const ours = list.flatMap((each, index) => (ourHook(each?.command) === undefined ? [] : [index]));
      return ours.length === 0 ? [] : [{ event, group, value, ours, alone: ours.length === list.length }];
    }),
  );
}

/**
 * Our hooks are replaced in place. If a group also contains other hooks, ours move to an entry of their own.
 */
export function addHooks(text: string, path: string, events: HookEvents): string {
  let edited = text;
  const found = Object.groupBy(findOurs(text, path), ({ event }) => event);
  const kept = new Set<string>();
  for (const [event, wanted] of Object.entries(events)) {
    const [only, ...others] = found[event] ?? [];
    if (only === undefined || others.length > 0 || !only.alone) continue;
    kept.add(event);
    if (canonical(only.value) !== canonical(wanted))
      edited = setJson(edited, path, ['hooks', event, only.group], wanted);
  }
  edited = removeHooks(edited, path, (event) => !kept.has(event));
  for (const [event, wanted] of Object.entries(events))
    if (!kept.has(event)) edited = appendJson(edited, path, ['hooks', event], wanted);
  return edited;
}

export function removeHooks(
  text: string,
  path: string,
  from: (event: string) => boolean = () => true,
): string {
  let edited = text;
  // From the end, so that earlier positions stay valid.
  for (const { event, group, ours, alone } of findOurs(text, path).toReversed()) {
    if (!from(event)) continue;
    if (alone) edited = removeJson(edited, path, ['hooks', event, group]);
    else
      for (const hook of ours.toReversed())
        edited = removeJson(edited, path, ['hooks', event, group, 'hooks', hook]);
  }
  return edited;
}
