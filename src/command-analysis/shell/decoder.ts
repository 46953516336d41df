import type { Word } from './word.ts';

/** What a program turns a text into; undefined: unknown. */
export type Decoder = (text: string, args: readonly Word[]) => string | undefined;
