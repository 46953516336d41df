import type { Plant } from './plants.ts';

const passes = 'test/features/workdir/pass.test.ts';
const chain = 'test/features/workdir/workdir-chain.test.ts';
const anyTree = 'test/features/workdir/any-tree.test.ts';
const domain = (name: string) => `src/features/workdir/${name}.ts`;
const deciders = 'test/features/queue/mirror-work.test.ts';
const mirrors = 'test/features/workdir/mirror.test.ts';
const taking = 'test/features/workdir/mirror-queue.test.ts';
const mirror = (name: string) => `src/features/workdir/operations/${name}.ts`;
const apply = 'src/features/workdir/folder/apply.ts';

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
    file: 'src/features/workdir/folder/task-folder.ts',
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
    file: 'src/features/workdir/folder/task-tree.ts',
    from: 'twins.push([older.path, newer]);',
    to: 'void twins;',
    tests: [passes, anyTree],
  },
  {
    name: 'work directory: an error that could not be told counts as told',
    file: 'src/features/workdir/folder/pass.ts',
    from: 'untold.add(occurrence);',
    to: 'void untold;',
    tests: [passes],
  },
  {
    name: 'work directory: a new owner is a second assignment',
    file: domain('reports'),
    from: 'return ONCE.exec(line)?.[0] ?? line;',
    to: 'return line;',
    tests: ['test/features/workdir/workdir-reports.test.ts'],
  },
  {
    name: 'mirror: a record is written anew though nothing differs',
    file: 'src/features/queue/mirror-work.ts',
    from: 'if (events.length === 0) return refused(nothingDiffers);',
    to: 'void nothingDiffers;',
    tests: [deciders, mirrors],
  },
  {
    name: 'mirror: any file may say that it is any task',
    file: 'src/features/queue/mirror-work.ts',
    from: 'if (known !== undefined && !isFileOf(known, seen.file) && !isBeingFiled(known, seen.file))',
    to: 'if (known !== undefined && known.file === seen.file)',
    tests: [deciders],
  },
  {
    name: 'mirror: a work_id counts for what it says',
    file: mirror('mirror-tree'),
    from: 'const isNamed = named?.directory === directory && isMeant(look, file, named);',
    to: 'const isNamed = named !== undefined;',
    tests: [taking],
  },
  {
    name: 'mirror: what others showed since we read the tree is taken for deleted',
    file: mirror('mirror-tree'),
    from: 'const tree = readTree(place.root, ids);',
    to: 'const { tree } = place;',
    tests: [mirrors],
  },
  {
    name: 'mirror: a task that is a file can be cancelled in the queue',
    file: 'src/features/queue/change-work.ts',
    from: 'if (filed !== undefined) return refused(filed);',
    to: 'void filed;',
    tests: [deciders, mirrors],
  },
  {
    name: 'mirror: whoever goes on with a file that was begun writes it again',
    file: mirror('file-queue'),
    from: "const isOpen = filing.resumed !== true || writtenBefore(place.root, task) === 'no';",
    to: 'const isOpen = true;',
    tests: [taking],
  },
  {
    name: 'mirror: two passes write the file of one task',
    file: 'src/features/queue/file-work.ts',
    from: 'if (file.filing.by !== by && file.filing.until_ms > now_ms) {',
    to: 'if (file.filing.by === by && file.filing.until_ms > now_ms + 1e12) {',
    tests: [deciders],
  },
];
