import type { Command } from 'commander';
import type { Terminal } from '../output/terminal.ts';
import { finishAll } from '../program/unfinished.ts';
import { bashScript } from './bash.ts';
import { spotsOf } from './command-tree.ts';
import { fishScript } from './fish.ts';
import { zshScript } from './zsh.ts';

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;

export type Shell = keyof typeof SCRIPTS;

/** The script contains everything the shell needs: no key press starts a process or opens a store. */
export async function printCompletion(shell: Shell, program: Command, terminal: Terminal): Promise<void> {
  await finishAll(program);
  await terminal.out(SCRIPTS[shell](spotsOf(program)));
}
