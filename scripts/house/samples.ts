// `node scripts/house/samples.ts [seed]`: sixty comments and thirty messages of src, chosen by a seed, to be read for plain English.
import ts from 'typescript';
import { parse, readProject, visit } from '../../test/tidy/files.ts';

const seed = Number(process.argv[2] ?? 1);
const COMMENTS = 60;
const MESSAGES = 30;

/** mulberry32: the same seed chooses the same lines on every machine. */
function randomFrom(start: number): () => number {
  let state = start >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const random = randomFrom(seed);

function choose<T>(all: readonly T[], count: number): T[] {
  const left = [...all];
  return Array.from({ length: Math.min(count, left.length) }, () => {
    const [chosen] = left.splice(Math.floor(random() * left.length), 1);
    return chosen as T;
  });
}

const comments = new Set<string>();
const messages = new Set<string>();
for (const file of readProject().filter(({ path }) => /^src\/.*\.ts$/.test(path))) {
  visit(parse(file), (node) => {
    for (const { pos, end } of ts.getLeadingCommentRanges(file.text, node.getFullStart()) ?? []) {
      const text = file.text
        .slice(pos, end)
        .replace(/^\s*\/?\*+\/?|\*\/$/gm, '')
        .replace(/^\s*\/\//, '');
      comments.add(`${file.path}: ${text.replace(/\s+/g, ' ').trim()}`);
    }
    const isRefusal = ts.isCallExpression(node) && node.expression.getText() === 'refuse';
    const message = isRefusal ? node.arguments[1] : undefined;
    // A variable says nothing by itself.
    if (message !== undefined && /['`]/.test(message.getText()))
      messages.add(`${file.path}: ${message.getText().replace(/\s+/g, ' ')}`);
  });
}

console.log(`seed ${seed}: ${COMMENTS} of ${comments.size} comments\n`);
for (const line of choose([...comments].sort(), COMMENTS)) console.log(line);
console.log(`\n${MESSAGES} of ${messages.size} messages\n`);
for (const line of choose([...messages].sort(), MESSAGES)) console.log(line);
