import { globSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import { CATEGORIES } from '../../../../src/features/trust/finding.ts';

const FOLDER = new URL('../corpus/', import.meta.url);

/** One reason, and the commands it is true of. A legitimate one names the danger it could be mistaken for, or `none`. */
const group = z.strictObject({
  category: z.enum([...CATEGORIES, 'none']),
  reason: z.string().min(10),
  /** Where the idea comes from. */
  note: z.string().min(3),
  /** What makes a removal harmless, in the repository of repository.ts. */
  state: z.enum(['ignored', 'tracked', 'temporary']).optional(),
  commands: z.array(z.string().min(1)).min(1),
});

export type Side = 'destructive' | 'legitimate';

export interface Operation extends Omit<z.infer<typeof group>, 'commands'> {
  readonly side: Side;
  /** The file it stands in. */
  readonly theme: string;
  readonly command: string;
}

function read(side: Side, file: string): Operation[] {
  const text = readFileSync(new URL(`${side}/${file}`, FOLDER), 'utf8');
  const theme = file.replace(/\.yaml$/, '');
  const { data, error } = z.array(group).safeParse(parse(text));
  if (data === undefined) throw new Error(`${side}/${file}: ${z.prettifyError(error)}`);
  return data.flatMap(({ commands, ...about }) =>
    commands.map((command) => ({ ...about, side, theme, command })),
  );
}

/** The labelled operations, in the order of their files. */
export function readCorpus(side: Side): Operation[] {
  const files = globSync('*.yaml', { cwd: new URL(`${side}/`, FOLDER) }).sort();
  return files.flatMap((file) => read(side, file));
}
