import type { Command } from 'commander';

/** A verb's flags need its schema, which is loaded when the verb is chosen; what is still to be done until then. */
const unfinished = new WeakMap<Command, () => Promise<void>>();

export function finishLater(command: Command, finish: () => Promise<void>): void {
  unfinished.set(command, finish);
}

export async function finish(command: Command): Promise<void> {
  await unfinished.get(command)?.();
  unfinished.delete(command);
}

/** With the flags of every verb, for whoever wants to see all of it. */
export async function finishAll(command: Command): Promise<void> {
  await finish(command);
  for (const inner of command.commands) await finishAll(inner);
}
