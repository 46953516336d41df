import { endWithLauncher, expectEchoes, skipLauncher } from './program/signals.ts';

/** What bin/cox uses of the program: this file is loaded from the sources, and is what the bundle is made of. */
export async function main(words: string[]): Promise<number> {
  const { main: answer } = await import('./main.ts');
  return await answer(words);
}

/** We were started by bin/cox on an old Node. Called before anything else is loaded: a signal may come at any time. */
export function followLauncher(): void {
  expectEchoes();
  endWithLauncher();
  skipLauncher();
}
