import { sha256 } from '../../../../kernel/hash.ts';
import { canonical, type JsonObject } from '../../../../kernel/json.ts';
import { ourHook } from '../hook-parts.ts';
import { jsonIn } from '../json-text.ts';

/** One hook as Codex knows it: by its place in the file, and by what it says. */
export interface CodexHook {
  readonly key: string;
  readonly hash: string;
}

interface Handler extends JsonObject {
  readonly command?: string;
  readonly timeout?: number;
}

/** Our hooks in a `hooks.json`, with what Codex notes when a person trusts them. Nobody else's: those are not ours to trust. */
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
 * As Codex 0.166 computes it: over the hook alone, in an order of its own. A version that does it differently finds a hash it
 * does not know and runs nothing: that is noticed (`cox init --trust` asks Codex afterwards), and does no harm.
 */
function hookHash(event_name: string, matcher: unknown, { command, timeout }: Handler): string {
  const identity = {
    event_name,
    hooks: [{ type: 'command', command, timeout, async: false }],
    ...(typeof matcher === 'string' ? { matcher } : {}),
  };
  return `sha256:${sha256(canonical(identity))}`;
}
