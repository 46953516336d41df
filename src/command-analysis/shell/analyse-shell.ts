import type { ShellPlace } from './parameters.ts';
import { readCommands } from './parse-shell-line.ts';
import type { Reading } from './reading.ts';
import type { SimpleCommand } from './shell-command.ts';
import { ShellFindings, type Touched, type Write, type Writer } from './shell-findings.ts';
import { fileWriters } from './writers/file-writers.ts';
import { git } from './writers/git-writers.ts';
import { outputWriters } from './writers/output-writers.ts';
import { packageWriters } from './writers/package-writers.ts';
import { textWriters } from './writers/text-writers.ts';
import { toolWriters } from './writers/tool-writers.ts';

export type { ShellPlace as Place } from './parameters.ts';
export { readCommands } from './parse-shell-line.ts';
export type { Reading } from './reading.ts';
export type { Touched, Write } from './shell-findings.ts';

const TABLES = [fileWriters, textWriters, { git }, toolWriters, packageWriters, outputWriters];

const BY_NAME: ReadonlyMap<string, readonly Writer[]> = (() => {
  const found = new Map<string, Writer[]>();
  for (const table of TABLES as readonly Readonly<Record<string, Writer>>[])
    for (const [name, writer] of Object.entries(table)) found.set(name, [...(found.get(name) ?? []), writer]);
  return found;
})();

function writersOf(name: string): readonly Writer[] {
  return BY_NAME.get(name.startsWith('python') ? name.replace(/^python[\d.]*$/, 'python') : name) ?? [];
}

/** Could it write a file at all, as far as is known here? */
function mayWrite({ name, outputs }: SimpleCommand): boolean {
  return outputs.length > 0 || writersOf(name).length > 0;
}

/**
 * Which files a command line would write, create, move or delete. Nothing is run or looked up; an unknown
 * program, or a script in a file, counts as writing nothing.
 */
export function filesWritten(command: string | readonly string[], place: ShellPlace): Touched {
  return filesWrittenIn(readCommands(command, place));
}

/** The same for a command line that was read before: guardrails and locks look at one reading. */
export function filesWrittenIn({ commands, unknown }: Reading): Touched {
  const found = new ShellFindings(unknown);
  // Files on another machine are not files of this one.
  for (const each of commands) if (each.elsewhere !== true) noteWrites(each, found);
  return found.touched;
}

/** The files that one command writes, wherever it runs. */
export function writesOf(command: SimpleCommand): readonly Write[] {
  if (!mayWrite(command)) return [];
  const found = new ShellFindings([]);
  noteWrites(command, found);
  return found.writes;
}

function noteWrites(command: SimpleCommand, found: ShellFindings): void {
  if (command.outputs.length > 0) found.file({ ...command, name: '' }, command.outputs);
  for (const write of writersOf(command.name)) write(command, found);
}
