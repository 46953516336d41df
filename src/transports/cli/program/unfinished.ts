import type { Command } from 'commander';

/**
 * A verb's flags need its schema, which is loaded when the verb is chosen. This is the work left until then.
 */
const unfinished = new WeakMap<Command, () => Promise<void>>();

export function finishLater(command: Command, finish: () => Promise<void>): void {
  unfinished.set(command, finish);
}

export async function finish(command: Command): Promise<void> {
  await unfinished.get(command)?.();
  unfinished.delete(command);
}

/** Adds the flags of every verb, for callers that need the whole tree. */
export async function finishAll(command: Command): Promise<void> {
  await finish(command);
  for (const inner of command.commands) await finishAll(inner);
}
