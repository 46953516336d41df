// `node scripts/house/measure.ts [revision]`: how far each capability is spread over the folders of src, and which share of the imports
// crosses top-level folders, in the work tree or in a revision of the repository.
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { readProject, type SourceText } from '../../test/tidy/files.ts';
import { importsIn } from '../../test/tidy/imports.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** By the words in a path; a slice counts whole, and what is thin in the transports does not. */
const CAPABILITIES: Readonly<Record<string, RegExp>> = {
  board: /(?:^|\/)features\/board\/|(?:^|\/)board(?:\/|-|\.)/,
  claims:
    /(?:^|\/)features\/claims\/|(?:^|\/)(?:claims|routing|views|fleet)(?:\/|-|\.)|claim-(?:edge|proposals|words)|feature-folder|stale-claims|foreign-lines\.ts|route-work/,
  'work directories': /(?:^|\/)features\/workdir\/|(?:^|\/)(?:workdir|task-files|coordinate)(?:\/|-|\.)/,
  verification: /(?:^|\/)features\/verification\/|(?:^|\/)(?:verification|verify)(?:\/|-commands|\.ts)/,
  network: /(?:^|\/)features\/network\/|(?:^|\/)(?:network|proxy)(?:\/|-|\.)/,
};

/** Not the capability's: the audit's verification, the tables and columns of others. */
const OTHERS = /ledger\/|stores\/|client\/|guardrails|trust\/|overview\//;

function git(...words: string[]): string {
  return execFileSync('git', words, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 28 });
}

function sourcesAt(revision: string | undefined): SourceText[] {
  if (revision === undefined) return readProject().filter(({ path }) => /^src\/.*\.ts$/.test(path));
  const paths = git('ls-tree', '-r', '--name-only', revision, 'src').split('\n');
  return paths
    .filter((path) => path.endsWith('.ts'))
    .map((path) => ({ path, text: git('show', `${revision}:${path}`) }));
}

function folderOf(path: string): string {
  const parts = path.split('/').slice(1, -1);
  return parts[0] === 'features' ? parts.slice(0, 2).join('/') : parts.join('/');
}

function topOf(path: string): string {
  const [, top = '', ...rest] = path.split('/');
  return rest.length === 0 ? '(src)' : top;
}

const files = sourcesAt(process.argv[2]);
for (const [name, words] of Object.entries(CAPABILITIES)) {
  const own = files.filter(({ path }) => words.test(path) && !OTHERS.test(path));
  const inSlices = own.filter(({ path }) => path.startsWith('src/features/')).length;
  const folders = new Set(own.map(({ path }) => folderOf(path)));
  console.log(
    `${name.padEnd(18)} ${String(own.length).padStart(4)} files in ${folders.size} folders (${inSlices} in slices)`,
  );
}
const imports = importsIn(files);
const crossing = imports.filter(({ from, to }) => topOf(from) !== topOf(to));
const share = (part: number) => `${((100 * part) / imports.length).toFixed(1)} %`;
console.log(`imports            ${imports.length}, ${share(crossing.length)} across top-level folders`);

/** What every capability speaks with, and a barrel would make one import a file of. */
const BASE = ['kernel', 'ledger', 'runtime', 'storage', 'command-analysis', 'child-process', 'stores'];
for (const base of BASE.filter((each) => crossing.some(({ to }) => topOf(to) === each)))
  console.log(`  to ${base.padEnd(17)} ${share(crossing.filter(({ to }) => topOf(to) === base).length)}`);
const besides = crossing.filter(({ to }) => !BASE.includes(topOf(to)));
console.log(`  to the rest         ${share(besides.length)}`);
const filesTo = new Set(
  crossing.map(({ from, to }) => `${from} ${BASE.includes(topOf(to)) ? topOf(to) : to}`),
);
const within = imports.length - crossing.length;
const barrels = (100 * filesTo.size) / (filesTo.size + within);
console.log(`  with one index.ts for each of those folders it would be ${barrels.toFixed(1)} %`);
const between = imports.filter(({ from, to }) => {
  const [a, b] = [from, to].map((path) => path.split('/').slice(1, 3).join('/'));
  return a !== b && topOf(from) === 'features' && topOf(to) === 'features';
});
console.log(`imports between two slices: ${share(between.length)}`);
