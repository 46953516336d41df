import { sha256 } from '../../../../kernel/hash.ts';
import { canonical, type JsonObject } from '../../../../kernel/json.ts';
import { ourHook } from '../hook-parts.ts';
import { jsonIn } from '../json-text.ts';

/** One hook as Codex identifies it: by its position in the file and by its content. */
export interface CodexHook {
  readonly key: string;
  readonly hash: string;
}

interface Handler extends JsonObject {
  readonly command?: string;
  readonly timeout?: number;
}

/**
 * Our hooks in a `hooks.json`, with what Codex notes when a person trusts them. Other programs' hooks are not
 * ours to trust.
 */
export function codexHooksIn(text: string | undefined, path: string): CodexHook[] {
  const events = (jsonIn(text, path)?.hooks ?? {}) as Record<string, JsonObject[]>;
  return Object.entries(events).flatMap(([name, groups]) =>
    (Array.isArray(groups) ? groups : []).flatMap((group, at) =>
      (Array.isArray(group?.hooks) ? (group.hooks as Handler[]) : []).flatMap((handler, index) => {
        if (ourHook(handler?.command)?.client !== 'codex') return [];
        const event = eventLabel(name);
        return [{ key: [path, event, at, index].join(':'), hash: hookHash(event, group.matcher, handler) }];
      }),
    ),
  );
}

/** `PreToolUse` → `pre_tool_use`. */
function eventLabel(name: string): string {
  return name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_').toLowerCase();
}

/**
 * As Codex 0.166 computes it: over the hook alone, in its own field order. A version that computes it
 * differently finds an unknown hash and runs nothing. That does no harm and is noticed: `cox init --trust`
 * asks Codex afterwards.
 */
function hookHash(event_name: string, matcher: unknown, { command, timeout }: Handler): string {
  const identity = {
    event_name,
    hooks: [{ type: 'command', command, timeout, async: false }],
    ...(typeof matcher === 'string' ? { matcher } : {}),
  };
  return `sha256:${sha256(canonical(identity))}`;
}
