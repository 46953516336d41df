import type { ProcessFacts } from '../../src/child-process/client-process.ts';
import type { Terminal } from '../../src/transports/cli/output/terminal.ts';
import { fakeTerminal } from './support.ts';

/** Ancestors by name, the nearest first; the words that started each, if they are not its name. */
export function machineOf(...ancestors: (string | readonly string[])[]): NonNullable<Terminal['machine']> {
  const all = ancestors.map((each) => (typeof each === 'string' ? [each] : each));
  return {
    from: 1000,
    read: (pid): ProcessFacts | undefined => {
      const words = all[pid - 1000];
      if (words === undefined) return undefined;
      const parent = pid - 1000 === all.length - 1 ? 1 : pid + 1;
      return { name: words[0] ?? '', parent, started: '1' };
    },
    words: (pid) => all[pid - 1000],
  };
}

/** A terminal at which a person sits and types that. */
export function personsTerminal(
  cwd: string,
  env: Record<string, string>,
  typed: string | undefined,
  more: Partial<Terminal> = {},
) {
  const asked: string[] = [];
  const { terminal, written } = fakeTerminal(cwd, env);
  const ask = async (question: string) => {
    asked.push(question);
    return typed;
  };
  const seated = { ...terminal, ask, controlled: () => true, machine: machineOf('bash', 'sshd'), ...more };
  return { terminal: seated as Terminal, written, asked };
}
