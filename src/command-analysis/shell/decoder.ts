import type { Word } from './word.ts';

/** What a program makes of a text; undefined: nobody can say. */
export type Decoder = (text: string, args: readonly Word[]) => string | undefined;
