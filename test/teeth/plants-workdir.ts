import type { Plant } from './plants.ts';

const passes = 'test/workdir/pass.test.ts';
const chain = 'test/domain/workdir-chain.test.ts';
const anyTree = 'test/workdir/any-tree.test.ts';
const domain = (name: string) => `src/domain/workdir/${name}.ts`;
const apply = 'src/workdir/apply.ts';

/** Task files in folders, and the passes over them. */
export const coordinating: readonly Plant[] = [
  {
    name: 'work directory: a follow-up is called after the minute of the pass',
    file: domain('follow-up'),
    from: "stemOf(doneAt_ms(parent) ?? 0, agent, title, 'follow-up'),",
    to: "stemOf(now_ms, agent, title, 'follow-up'),",
    tests: [chain],
  },
  {
    name: 'work directory: who has been followed is followed again',
    file: domain('follow-up'),
    from: 'return result?.next_agent !== undefined && follow_up === undefined;',
    to: "return result?.next_agent !== undefined && follow_up !== '';",
    tests: [chain],
  },
  {
    name: 'work directory: a person’s edit is written over',
    file: 'src/workdir/task-folder.ts',
    from: 'if (now === undefined || now !== this.#texts.get(path)) return undefined;',
    to: 'if (now === undefined) return undefined;',
    tests: [passes, anyTree],
  },
  {
    name: 'work directory: a slow pass makes the follow-up a second time',
    file: apply,
    from: 'this.#folder.expectUnchanged(action.parent),',
    to: 'Promise.resolve(),',
    tests: [passes],
  },
  {
    name: 'work directory: a move that was cut short leaves two',
    file: 'src/workdir/tree.ts',
    from: 'twins.push([older.path, newer]);',
    to: 'void twins;',
    tests: [passes, anyTree],
  },
  {
    name: 'work directory: an error that could not be told counts as told',
    file: 'src/workdir/pass.ts',
    from: 'untold.add(occurrence);',
    to: 'void untold;',
    tests: [passes],
  },
  {
    name: 'work directory: a new owner is a second assignment',
    file: domain('reports'),
    from: 'return ONCE.exec(line)?.[0] ?? line;',
    to: 'return line;',
    tests: ['test/domain/workdir-reports.test.ts'],
  },
];
