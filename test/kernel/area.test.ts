import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { type Area, areaName, covers, fileOfFolder, foldersAbove, overlap } from '../../src/kernel/area.ts';
import { globMatches } from '../../src/kernel/glob.ts';
import { normaliseArea } from '../../src/kernel/path.ts';
import { findWorkspace, type Workspace } from '../../src/kernel/workspace.ts';
import { naive } from '../simulation/model-areas.ts';

let root: string;
let workspace: Workspace;

before(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'cox-area-')));
  mkdirSync(join(root, 'src/api'), { recursive: true });
  mkdirSync(join(root, 'app/[slug]'), { recursive: true });
  mkdirSync(join(root, '.git/objects'), { recursive: true });
  mkdirSync(join(root, '.git/refs'));
  writeFileSync(join(root, '.git/HEAD'), 'ref: refs/heads/main\n');
  writeFileSync(join(root, 'src/a.ts'), '');
  symlinkSync('src/api', join(root, 'short'));
  workspace = findWorkspace(root);
});

after(() => rmSync(root, { recursive: true }));

function area(input: string, from = workspace): Area {
  const normal = normaliseArea(input, from);
  assert.ok(normal.ok, `${input}: ${JSON.stringify(normal)}`);
  return normal.area;
}

function code(input: string): string {
  const normal = normaliseArea(input, workspace);
  assert.ok(!normal.ok, `${input}: ${JSON.stringify(normal)}`);
  return normal.code;
}

test('[LOCK-10] a folder is what ends in a slash or is one on the disk; everything else is a file', () => {
  assert.deepEqual(area('src/a.ts'), { place: 'src/a.ts' });
  assert.deepEqual(area('src/new'), { place: 'src/new' });
  for (const input of [
    'src/api/',
    'src/api',
    './src//api/',
    'src/x/../api',
    'short',
    'short/',
    `${root}/src/api`,
  ])
    assert.deepEqual(area(input), { place: 'src/api/' }, input);
  assert.deepEqual(area('src/new/'), { place: 'src/new/' });
  assert.deepEqual(area('api:users'), { place: 'api:users' });
  assert.deepEqual(area('api:users/'), { place: 'api:users/' }, 'logical keys have no folders');
});

test('[LOCK-10] a pattern is kept with the folder before its first wildcard, in the one normal form', () => {
  assert.deepEqual(area('src/api/**/*.ts'), { place: 'src/api/', pattern: 'src/api/**/*.ts' });
  assert.deepEqual(area('./short/../api/?.ts'), { place: 'src/api/', pattern: 'src/api/?.ts' });
  assert.deepEqual(area('short/*.ts'), { place: 'src/api/', pattern: 'src/api/*.ts' });
  assert.deepEqual(area('*.ts'), { place: './', pattern: '*.ts' });
  assert.deepEqual(area(`${root}/*/x/`), { place: './', pattern: '*/x/**' });
  assert.deepEqual(area('src/**/**/./a'), { place: 'src/', pattern: 'src/**/a' });
  assert.deepEqual(area('./api:*'), { place: './', pattern: './api:*' });
  assert.deepEqual(area('src\\*.ts'), { place: 'src/', pattern: 'src/*.ts' });
  assert.deepEqual(area('cafe\u0301/*.ts'), { place: 'café/', pattern: 'café/*.ts' });
  assert.deepEqual(area('app/[slug]/*.tsx'), { place: 'app/[slug]/', pattern: 'app/[slug]/*.tsx' });
  assert.deepEqual(area('app/[slug]/page.tsx'), { place: 'app/[slug]/page.tsx' }, 'brackets are letters');
  assert.deepEqual(area('app/{a,b}.ts'), { place: 'app/{a,b}.ts' });
  writeFileSync(join(root, '.git/config'), '[core]\n\tignorecase = true\n');
  assert.deepEqual(area('SRC/*.TS', findWorkspace(root)), { place: 'src/', pattern: 'src/*.ts' });
});

test('[LOCK-10] a pattern with alternatives in braces would guard nothing: it is refused with how to ask', () => {
  const inputs = [
    'lib/**/*.{ts,tsx}',
    '{src,lib}/**',
    '{src,lib}/*/',
    'src/{a/b,c}/?.ts',
    '*{a,{b,c}}',
    '{,x}*',
  ];
  for (const input of inputs) assert.equal(code(input), 'path_invalid', input);
  const refused = normaliseArea('lib/**/*.{ts,tsx}', workspace);
  assert.match(refused.ok ? '' : refused.message, /Name each pattern, such as lib\/\*\*\/\*\.ts and/);
  for (const input of [
    '{slug}.ts',
    'app/[id]/*.tsx',
    'app/{id}/*.tsx',
    'app/[a,b]/*',
    '*}a,b{',
    '{a,b}/',
    '{a,b}/../*',
  ])
    area(input);
  const odd = join(root, 'odd{a,b}');
  mkdirSync(join(odd, '.git/objects'), { recursive: true });
  mkdirSync(join(odd, '.git/refs'));
  writeFileSync(join(odd, '.git/HEAD'), 'ref: refs/heads/main\n');
  assert.deepEqual(area(`${odd}/*.ts`, findWorkspace(odd)), { place: './', pattern: '*.ts' });
});

test('[LOCK-10] all of a folder has one name, and so has the repository', () => {
  assert.deepEqual(area('src/**'), { place: 'src/' });
  assert.deepEqual(area('src/**/'), { place: 'src/' });
  for (const input of ['./', '**', './**', 'src/../', `${root}/`, `${root}/**`])
    assert.deepEqual(area(input), { place: './' }, input);
  assert.equal(code('.'), 'path_is_root');
  assert.equal(code(root), 'path_is_root');
});

test('[LOCK-10] what leads outside, into git or back behind a wildcard is refused', () => {
  assert.equal(code('../*'), 'path_outside_repository');
  assert.equal(code('/etc/*'), 'path_outside_repository');
  assert.equal(code('/*'), 'path_outside_repository');
  assert.equal(code('src/*/../x'), 'path_invalid');
  assert.equal(code('.git/*'), 'path_in_git_dir');
  assert.equal(code('.git/'), 'path_in_git_dir');
  assert.equal(code(`src/*${'x'.repeat(900)}`), 'path_too_long');
  assert.equal(code(''), 'path_invalid');
  assert.equal(code('a\n*'), 'path_invalid');
});

test('[LOCK-10] an area is its own normal form: what is shown can be asked for', () => {
  const inputs = [
    'src/a.ts',
    'src/api/',
    './',
    '*.ts',
    'src/**/x/?',
    './api:*',
    './api:x/',
    './c:/',
    'c:',
    './~/a',
    'api:x',
  ];
  for (const input of inputs) {
    const once = area(input);
    assert.deepEqual(area(areaName(once)), once, input);
  }
});

test('[LOCK-10] a pattern matches as a regular expression would, without its cost', () => {
  const letter = fc.constantFrom('a', 'b', '.', '[');
  const name = fc.string({ unit: letter, minLength: 1, maxLength: 4 }).filter((text) => text !== '.');
  const wild = fc.string({ unit: fc.constantFrom('a', 'b', '*', '?', '[', '.'), minLength: 1, maxLength: 5 });
  const part = fc.oneof(
    name,
    wild.filter((text) => text !== '**' && text !== '.'),
    fc.constant('**'),
  );
  const patterns = fc.array(part, { minLength: 1, maxLength: 5 });
  const keys = fc.array(name, { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(patterns, keys, (parts, names) => {
      const spread = parts.filter((each, index) => each !== '**' || parts[index - 1] !== '**');
      const [pattern, key] = [spread.join('/'), names.join('/')];
      assert.equal(globMatches(pattern, key), naive(pattern).test(key), `${pattern} ${key}`);
    }),
    { numRuns: 20_000 },
  );
  const [evil, long] = [`${'*a'.repeat(200)}b`, 'a'.repeat(450)];
  const start_ms = performance.now();
  assert.equal(globMatches(evil, long), false);
  assert.equal(globMatches(Array(150).fill('**/a').join('/'), Array(400).fill('a').join('/')), true);
  assert.ok(performance.now() - start_ms < 500, 'no pattern takes long');
});

test('[LOCK-10] overlap: files by key, folders by what is under them, patterns by matching, folders of any kind by nesting', () => {
  const cases: [string, string, boolean][] = [
    ['src/a.ts', 'src/a.ts', true],
    ['src/a.ts', 'src/b.ts', false],
    ['src/', 'src/a.ts', true],
    ['src/', 'src/api/x/y.ts', true],
    ['src/', 'src2/a.ts', false],
    ['src/gone/', 'src/gone', true],
    ['./', 'src/a.ts', true],
    ['./', 'api:users', false],
    ['**/*.ts', 'api:users', false],
    ['src/*.ts', 'src/a.ts', true],
    ['src/*.ts', 'src/api/a.ts', false],
    ['src/**/*.ts', 'src/a.ts', true],
    ['src/**/*.ts', 'src/a.css', false],
    ['src/*.ts', 'src/*.css', true],
    ['src/', 'src/api/', true],
    ['src/api/', 'web/', false],
    ['*.ts', 'src/', true],
    ['api:users', 'api:users', true],
    ['api:users', 'api:users/1', false],
    ['api:users/', 'api:users/1', false],
    ['./api:x/', './api:x/y', true],
    ['./c:/', './c:/x', true],
    ['./c:/', 'c:', true],
    ['*', './api:x', true],
  ];
  for (const [one, other, expected] of cases) {
    assert.equal(overlap(area(one), area(other)), expected, `${one} ${other}`);
    assert.equal(overlap(area(other), area(one)), expected, `${other} ${one}`);
  }
});

test('[LOCK-10] covers: all of it, not only some', () => {
  assert.equal(covers(area('src/'), area('src/a.ts')), true);
  assert.equal(covers(area('src/'), area('src/api/*.ts')), true);
  assert.equal(covers(area('src/api/'), area('src/')), false);
  assert.equal(covers(area('src/*.ts'), area('src/a.ts')), false, 'errs on the side of no');
  assert.equal(covers(area('src/*.ts'), area('src/*.ts')), true);
  assert.equal(covers(area('./'), area('api:users')), false);
});

test('[LOCK-10] the folders above a place are those whose locks can cover it', () => {
  assert.deepEqual(foldersAbove('src/api/a.ts'), ['./', 'src/', 'src/api/', 'src/api/a.ts/']);
  assert.deepEqual(foldersAbove('src/api/'), ['./', 'src/']);
  assert.deepEqual(foldersAbove('./'), []);
  assert.deepEqual(foldersAbove('api:users'), []);
  assert.deepEqual(foldersAbove('./api:x/y'), ['./', './api:x/', './api:x/y/']);
  assert.deepEqual(foldersAbove('./c:/x'), ['./', './c:/', './c:/x/']);
  assert.equal(fileOfFolder('./c:/'), 'c:');
  assert.equal(fileOfFolder('src/api/'), 'src/api');
  assert.equal(fileOfFolder('./'), undefined);
});
