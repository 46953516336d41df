import { systemClock } from '../../../kernel/clock.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { View } from '../output/layout.ts';
import type { Paint } from '../output/paint.ts';
import { jsonLine, type Terminal, viewOf } from '../output/terminal.ts';
import { plain } from '../output/text.ts';
import type { FileChange } from './changes.ts';
import type { NextStep } from './next-steps.ts';
import type { Prepared } from './prepare.ts';
import { unifiedDiff } from './setup-diff.ts';
import type { InitOptions, Request } from './setup-request.ts';

export interface SetupOutcome {
  readonly action: keyof typeof HEADLINES;
  readonly exit_code: number;
  readonly request: Request;
  readonly prepared?: Prepared;
  readonly changes?: readonly FileChange[];
  readonly notes?: readonly string[];
  readonly steps?: readonly NextStep[];
}

const HEADLINES = {
  written: 'Set up.',
  updated: 'Updated.',
  planned: 'Nothing was written (--dry-run).',
  unchanged: 'Already set up: nothing to change.',
  unconfirmed: 'Nothing was written: there is nobody to ask. Run it again with --yes to write this.',
  declined: 'Nothing was written.',
  undone: 'Undone.',
  nothing: 'Nothing to undo here.',
} as const;

export async function showChanges(
  changes: readonly FileChange[],
  options: InitOptions,
  terminal: Terminal,
): Promise<void> {
  const { paint } = view(options, terminal);
  for (const change of changes) await terminal.out(`${unifiedDiff(change, paint).join('\n')}\n\n`);
}

/** What was done, or not, and what is left to do. Answers the exit code. */
export async function report(
  outcome: SetupOutcome,
  options: InitOptions,
  terminal: Terminal,
): Promise<number> {
  if (options.json === true) await terminal.out(`${jsonLine(asJson(outcome))}\n`);
  else {
    const text = asText(outcome, view(options, terminal));
    if (outcome.exit_code === 0) await terminal.out(text);
    else await terminal.err(text);
  }
  return outcome.exit_code;
}

function view(options: InitOptions, terminal: Terminal): View {
  return viewOf(terminal, { color: options.color, now_ms: systemClock.now_ms() });
}

function asText(outcome: SetupOutcome, { paint }: View): string {
  const { action, request, changes = outcome.prepared?.changes ?? [] } = outcome;
  const lines = [paint(HEADLINES[action], outcome.exit_code === 0 ? 'green' : 'yellow')];
  if (isWritten(action) || action === 'undone')
    for (const change of changes) lines.push(`  ${fate(change).padEnd(8)} ${plain(change.path)}`);
  if (action === 'undone' && changes.length === 0) lines.push('  Everything was as before already.');
  for (const { client } of isQuiet(action) ? [] : request.leftOut)
    lines.push(
      `  ${client.title} was not found and is left out (--client ${client.name} sets it up all the same).`,
    );
  for (const note of notesOf(outcome)) lines.push(`  ${plain(note)}`);
  lines.push(...stepLines(outcome, paint));
  if (isWritten(action)) lines.push('', '`cox doctor` checks all of it; `cox init --undo` takes it away.');
  return `${lines.join('\n')}\n`;
}

/** The last word: what a person has to do in each client. */
function stepLines({ steps = [] }: SetupOutcome, paint: Paint): string[] {
  return [
    ...(steps.length === 0 ? [] : ['']),
    ...steps.map(({ title, left }) =>
      left === undefined
        ? `${paint('✔', 'green')} ${title} is ready.`
        : `${paint('!', 'yellow')} ${title}: ${plain(left)}`,
    ),
  ];
}

function isWritten(action: SetupOutcome['action']): boolean {
  return action === 'written' || action === 'updated';
}

function isQuiet(action: SetupOutcome['action']): boolean {
  return action === 'undone' || action === 'nothing' || action === 'declined';
}

function notesOf({ action, prepared, notes = [] }: SetupOutcome): string[] {
  return action === 'declined' ? [] : [...notes, ...(prepared?.notes ?? [])];
}

function fate({ before, after }: FileChange): 'created' | 'changed' | 'removed' {
  if (before === undefined) return 'created';
  return after === undefined ? 'removed' : 'changed';
}

function asJson(outcome: SetupOutcome): JsonObject {
  const { action, exit_code, request, changes = outcome.prepared?.changes ?? [] } = outcome;
  const { site, locks, store, chosen, leftOut } = request;
  const plainDiff = (change: FileChange) => unifiedDiff(change, (text) => text).join('\n');
  return {
    success: exit_code === 0,
    action,
    root: site.root,
    scope: site.scope,
    locks,
    store,
    clients: chosen.map(({ client }) => client.name),
    left_out: leftOut.map(({ client }) => client.name),
    files: changes.map((change) => ({
      file_path: change.path,
      change: fate(change),
      diff: plainDiff(change),
    })),
    notes: notesOf(outcome),
    next_steps: (outcome.steps ?? []).map(({ client, left }) => ({
      client,
      ready: left === undefined,
      ...(left === undefined ? {} : { message: left }),
    })),
    ...(exit_code === 0 ? {} : { message: HEADLINES[action] }),
  };
}
