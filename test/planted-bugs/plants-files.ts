import type { Plant } from './plants.ts';

const log = 'test/stores/files.test.ts';
const claims = 'test/stores/files-claims.test.ts';
const fullDisk = 'test/chaos/full-disk.test.ts';
const files = (name: string) => `src/stores/files/${name}.ts`;

/** The log of plain lines, what stands beside it, and the inbox. */
export const filing: readonly Plant[] = [
  {
    name: 'files: what is torn at the end stays there',
    file: files('journal'),
    from: 'if (end < to) this.#cut(end, to);',
    to: '',
    tests: [log],
  },
  {
    name: 'files: a shorter log in its place is not noticed',
    file: files('journal'),
    from: 'if (bytes === noted.bytes && this.#file.endAt(bytes).tail === noted.tail) return false;',
    to: 'if (bytes <= noted.bytes) return false;',
    tests: [log],
  },
  {
    name: 'files: a longer log in its place is taken for the same one',
    file: files('journal'),
    from: 'if (bytes > noted.bytes && this.#file.endAt(noted.bytes).tail === noted.tail) {',
    to: 'if (bytes > noted.bytes) {',
    tests: [log],
  },
  {
    name: 'files: the next commit goes on in a line without its end',
    file: files('journal'),
    from: "if (this.#buffer.length === 0 && this.#endsWithinLine()) this.#put('\\n');",
    to: '',
    tests: [log],
  },
  {
    name: 'files: what a full disk undid stays in the log',
    file: files('journal'),
    from: 'if (from !== undefined) this.#takeBack(from);',
    to: '',
    tests: [fullDisk],
  },
  {
    name: 'files: the file that was replaced is still read',
    file: files('events-file'),
    from: 'const replaced = this.#handle !== undefined && found.ino !== this.#inode;',
    to: 'const replaced = this.#handle !== undefined && found.ino === 0;',
    tests: [log],
  },
  {
    name: 'files: a commit with a line twice and one missing counts',
    file: files('entries'),
    from: 'if (group?.first.commit !== own.commit || group.events.length !== own.n - 1) return undefined;',
    to: 'if (group?.first.commit !== own.commit) return undefined;',
    tests: [log],
  },
  {
    name: 'files: a half commit is made whole by the next one’s lines',
    file: files('entries'),
    from: 'if (group?.first.commit !== own.commit || group.events.length !== own.n - 1) return undefined;',
    to: 'if (group === undefined || group.events.length !== own.n - 1) return undefined;',
    tests: [log],
  },
  {
    name: 'files: a call is not known again from the log',
    file: files('entries'),
    from: 'input_digest: input_digest ?? null,',
    to: 'input_digest: null,',
    tests: [log],
  },
  {
    name: 'files: what is made anew is as young as its last event',
    file: files('fold'),
    from: 'born: current?.born ?? position',
    to: 'born: position',
    tests: [log],
  },
  {
    name: 'files: others’ claims stand in the log and hold nothing',
    file: files('ingest'),
    from: 'if (entry.events.length > 0) fold.apply(entry);',
    to: 'if (read.value.own) fold.apply(entry);',
    tests: [claims],
  },
  {
    name: 'files: others’ lines are read without those before them',
    file: files('ingest'),
    from: 'context.foreign?.eventOf(record, fold.stateOf(home, about));',
    to: 'context.foreign?.eventOf(record, statements.record(home, about)?.state);',
    tests: [claims],
  },
  {
    name: 'files: the last proposal is decided first',
    file: files('serialise-line'),
    from: 'staged.map((each) => {',
    to: 'staged.toReversed().map((each) => {',
    tests: [claims],
  },
  {
    name: 'files: what was decided stays in the inbox',
    file: files('serialise-line'),
    from: 'for (const each of left) remove(each);',
    to: '',
    tests: [claims],
  },
];
