import { Findings, type Touched, type Writer } from './findings.ts';
import type { Place } from './parameters.ts';
import { readCommands } from './read.ts';
import { fileWriters } from './writers/files.ts';
import { git } from './writers/git.ts';
import { outputWriters } from './writers/outputs.ts';
import { packageWriters } from './writers/packages.ts';
import { textWriters } from './writers/text.ts';
import { toolWriters } from './writers/tools.ts';

export type { Touched, Write } from './findings.ts';

const TABLES = [fileWriters, textWriters, { git }, toolWriters, packageWriters, outputWriters];

function writersOf(name: string): Writer[] {
  const bare = name.replace(/^python[\d.]*$/, 'python');
  return TABLES.flatMap((table: Readonly<Record<string, Writer>>) => {
    const writer = Object.hasOwn(table, bare) ? table[bare] : undefined;
    return writer === undefined ? [] : [writer];
  });
}

/**
 * Which files a command line would write, create, move or delete. Nothing is run and nothing looked up; a program that is not
 * known here, or a script in a file, writes nothing as far as this can tell.
 */
export function filesWritten(command: string | readonly string[], place: Place): Touched {
  const { commands, unknown } = readCommands(command, place);
  const found = new Findings(unknown);
  for (const each of commands) {
    found.file({ ...each, name: '' }, ...each.outputs);
    for (const write of writersOf(each.name)) write(each, found);
  }
  return found.touched;
}
