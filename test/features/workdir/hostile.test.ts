import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { limits } from '../../../src/kernel/limits.ts';
import { Ground, task } from './ground.ts';

const GOOD = { 'inbox/good.yaml': task('good') };
const ASSIGNED = 'assigned/ann/good.yaml';

const BOMB = `${task('bomb')}a: &a [x, x, x, x, x, x, x, x, x]
${['b', 'c', 'd', 'e', 'f', 'g', 'h']
  .map((name, n) => `${name}: &${name} [${Array(9).fill(`*${'abcdefg'[n]}`).join(', ')}]\n`)
  .join('')}context: {notes: *h}\n`;

/** What stands in the inbox, and what is said of it: line, field, the beginning of the reason. */
const BROKEN: Readonly<
  Record<string, readonly [text: string | Uint8Array, line: number, field: string, reason: RegExp]>
> = {
  'no-yaml': ['id: no-yaml\nagent: [ann\nstatus: new\n', 3, 'file', /./],
  list: ['- id: list\n', 1, 'file', /./],
  empty: ['', 1, 'id', /./],
  words: ['just words\n', 1, 'file', /./],
  'no-agent': ['id: no-agent\nstatus: new\nartefacts: []\n', 1, 'agent', /./],
  'bad-status': [task('bad-status', { status: 'started' }), 3, 'status', /^one of new, assigned/],
  'bad-agent': [task('bad-agent', { agent: '../../etc' }), 2, 'agent', /^a name of letters/],
  'no-artefacts': ['id: no-artefacts\nagent: ann\nstatus: new\n', 1, 'artefacts', /^expected a list/],
  'two-keys': [task('two-keys', {}, 'status: done\n'), 5, 'file', /unique/],
  'another-id': [task('something-else'), 1, 'id', /^expected the file's name, another-id/],
  'deep-flow': [
    task('deep-flow', {}, `x: ${'['.repeat(5000)}${']'.repeat(5000)}\nartefacts: again\n`),
    5,
    'file',
    /^nested too deeply/,
  ],
  'deep-list': [
    task('deep-list', {}, `x: ${'- '.repeat(5000)}y\nartefacts: again\n`),
    5,
    'file',
    /^nested too deeply/,
  ],
  bomb: [BOMB, 1, 'file', /^too many aliases/],
  huge: [task('huge', {}, `x: ${'y'.repeat(limits.fleet_file_bytes_max)}\n`), 1, 'file', /^larger than/],
  latin: [Buffer.from(task('latin', { title: 'caf\xe9' }), 'latin1'), 1, 'file', /^no UTF-8 text/],
  'two-documents': [`${task('two-documents')}---\n${task('two-documents')}`, 5, 'file', /./],
};

test('[DIR-1] broken files are told with file and line, stay as they are, and keep nobody else from going on', async () => {
  const broken = Object.fromEntries(
    Object.entries(BROKEN).map(([name, [text]]) => [`inbox/${name}.yaml`, text]),
  );
  using ground = new Ground(GOOD);
  for (const [path, text] of Object.entries(broken)) ground.write(path, text);
  const { problems, left, done } = await ground.pass();
  assert.deepEqual(left, []);
  assert.deepEqual([...new Set(done.map(({ id }) => id))], ['good']);
  for (const [name, [text, line, field, reason]] of Object.entries(BROKEN)) {
    const told = problems.filter(({ file }) => file === `inbox/${name}.yaml`);
    assert.deepEqual(
      told.slice(0, 1).map((problem) => [problem.line, problem.field]),
      [[line, field]],
      name,
    );
    assert.match(told[0]?.reason ?? '', reason, name);
    assert.equal(ground.contents()[`inbox/${name}.yaml`], Buffer.from(text).toString('latin1'), name);
    assert.ok(
      ground.read('collaboration/AGENT_STATUS.md').includes(`- inbox/${name}.yaml:${line}: ${field}: `),
      name,
    );
  }
  assert.ok(ground.has(ASSIGNED));
});

test('[DIR-1] what the quick reader lets pass and nobody can rewrite is not moved either', async () => {
  const text = task('odd', {}, 'extra:\n  - a: b: c\n');
  using ground = new Ground({ ...GOOD, 'inbox/odd.yaml': text });
  for (let pass = 0; pass < 2; pass += 1) {
    const { left } = await ground.pass();
    assert.deepEqual(
      left.map(({ action, reason }) => [action.kind, action.id, / at line 6/.test(reason)]),
      [
        ['update', 'odd', true],
        ['move', 'odd', false],
      ],
    );
    assert.equal(ground.read('inbox/odd.yaml'), text);
  }
  assert.ok(ground.has(ASSIGNED));
});

test('[DIR-6] one id in several places: all of them are told, none is touched, others go on', async () => {
  using ground = new Ground({
    ...GOOD,
    'inbox/x.yaml': task('x'),
    'assigned/ann/x.yaml': task('x', { status: 'assigned' }),
    'done/y.yaml': task('y', { status: 'done' }),
    'archive/2026-01/y.yaml': task('y', { status: 'archived' }),
    'inbox/same.yaml': task('same'),
    'fridge/same.yaml': task('same'),
    'done/again.yaml': task('again', { status: 'done' }),
    'inbox/again.yaml': task('again', { status: 'done' }),
    'inbox/two.yaml': task('two'),
    'inbox/two.yml': task('two'),
  });
  const before = ground.contents();
  const { problems, done } = await ground.pass();
  assert.deepEqual([...new Set(done.map(({ id }) => id))], ['good']);
  assert.deepEqual(
    problems.map(({ file, field, reason }) => `${file} ${field} ${reason}`),
    [
      'assigned/ann/x.yaml id x is in inbox/x.yaml too',
      'done/again.yaml id again is in inbox/again.yaml too',
      'done/y.yaml id y is in archive/2026-01/y.yaml too',
      'fridge/same.yaml id same is in inbox/same.yaml too',
      'inbox/again.yaml id again is in done/again.yaml too',
      'inbox/same.yaml id same is in fridge/same.yaml too',
      'inbox/two.yaml id two is in inbox/two.yml too',
      'inbox/two.yml id two is in inbox/two.yaml too',
      'inbox/x.yaml id x is in assigned/ann/x.yaml too',
    ],
  );
  const after = ground.contents();
  for (const [path, text] of Object.entries(before))
    if (!path.includes('good')) assert.equal(after[path], text, path);
});

test('[DIR-2] a follow-up that lies in two places is one all the same: no third is made', async () => {
  const child = task('child', { agent: 'bob' }, 'context: {previous_task: p}\n');
  using ground = new Ground({
    'done/p.yaml': task('p', { status: 'done' }, 'result: {next_agent: bob}\n'),
    'inbox/child.yaml': child,
    'assigned/bob/child.yaml': `${child}# another\n`,
  });
  const { done } = await ground.pass();
  assert.deepEqual(
    done.map(({ kind }) => kind),
    ['update', 'update'],
  );
  assert.match(ground.read('done/p.yaml'), /^follow_up: child$/m);
});

test('[DIR-8] links lead nowhere: neither a file nor an agent’s folder nor a shelf nor a report', async () => {
  using ground = new Ground(GOOD);
  const outside = join(ground.top, 'outside');
  mkdirSync(outside);
  for (const name of ['link.yaml', 'deep.yaml', 'shelf.yaml', 'WORKFLOW_LOG.md'])
    writeFileSync(join(outside, name), task(name.replace('.yaml', '')));
  symlinkSync(join(outside, 'link.yaml'), ground.at('inbox/link.yaml'));
  symlinkSync(outside, ground.at('assigned/eve'));
  ground.write('inbox/for-eve.yaml', task('for-eve', { agent: 'eve' }));
  ground.remove('fridge');
  symlinkSync(outside, ground.at('fridge'));
  symlinkSync(outside, ground.at('archive'));
  mkdirSync(ground.at('collaboration'));
  symlinkSync(join(outside, 'WORKFLOW_LOG.md'), ground.at('collaboration/WORKFLOW_LOG.md'));
  symlinkSync(outside, ground.at('logs'));
  const before = ground.fingerprint('outside');
  const { problems, files } = await ground.pass();
  assert.deepEqual(
    problems.map(({ file, reason }) => `${file} ${reason}`),
    [
      'archive a link: not followed',
      'assigned/eve a link: not followed',
      'fridge a link: not followed',
      'inbox/link.yaml a link: not followed',
      'logs a link: not followed',
      'logs/coordinator.jsonl "logs/coordinator.jsonl" goes through a symlink.',
      'collaboration/WORKFLOW_LOG.md "collaboration/WORKFLOW_LOG.md" goes through a symlink.',
    ],
  );
  assert.equal(ground.fingerprint('outside'), before);
  assert.deepEqual(files.map(({ task: { id, status } }) => `${id} ${status}`).sort(), [
    'for-eve error',
    'good assigned',
  ]);
});

test('[DIR-6] what is gone by the time it is moved into an archive that is a link stays done', async () => {
  const old = task('old', { status: 'done', completed_at: '2020-01-01T00:00:00Z' });
  using ground = new Ground({ 'done/old.yaml': old });
  symlinkSync(ground.top, ground.at('archive'));
  const { left } = await ground.pass();
  assert.deepEqual(
    left.map(({ action }) => action.kind),
    ['move'],
  );
  assert.ok(ground.has('done/old.yaml'));
});

test('pipes and folders in the place of files keep nobody waiting', async () => {
  using ground = new Ground(GOOD);
  const pipes = ['inbox/pipe.yaml', 'collaboration/HANDOFFS.md', 'collaboration/WORKFLOW_LOG.md'];
  mkdirSync(ground.at('collaboration'));
  for (const path of pipes) execFileSync('mkfifo', [ground.at(path)]);
  mkdirSync(ground.at('inbox/folder.yaml'));
  mkdirSync(ground.at('logs/coordinator.jsonl'), { recursive: true });
  mkdirSync(ground.at('assigned/ann/taken.yaml'));
  ground.write('inbox/taken.yaml', task('taken'));
  const { problems, findings } = await ground.pass();
  assert.deepEqual(
    problems.map(({ file, reason }) => `${file} ${reason}`),
    [
      'inbox/pipe.yaml not a file',
      'logs/coordinator.jsonl not a file',
      'collaboration/WORKFLOW_LOG.md not a file',
      'collaboration/HANDOFFS.md not a file',
    ],
  );
  assert.deepEqual(
    findings.map(({ text }) => text),
    ['waits for somebody to look at assigned/ann/taken.yaml, which is there already'],
  );
  assert.ok(ground.has(ASSIGNED));
});

test('names with odd characters are told as they are and break no report', async () => {
  using ground = new Ground(GOOD);
  const odd = [
    'a b.yaml',
    '-x.yaml',
    'a\nb.yaml',
    '\u001b[31m.yaml',
    'a|b`c.yaml',
    '{x}.yml',
    'ä.yaml',
    `${'n'.repeat(240)}.yaml`,
  ];
  for (const name of odd) {
    ground.write(`inbox/${name}`, task('x'));
    ground.write(`assigned/${name.slice(0, 30)} x/y.yaml`, task('y'));
  }
  ground.write('assigned/loose.yaml', task('loose'));
  ground.write('assigned/ann/deep/x.yaml', task('x'));
  ground.write(`done/${'d/'.repeat(limits.workdir_depth_max)}x.yaml`, task('x'));
  const before = ground.contents();
  const { problems, left } = await ground.pass();
  assert.deepEqual(left, []);
  assert.equal(problems.filter(({ file }) => file.startsWith('inbox/')).length, odd.length);
  assert.equal(
    problems.filter(({ reason }) => reason === 'expected in the folder of an agent').length,
    odd.length + 2,
  );
  assert.equal(problems.filter(({ reason }) => reason.startsWith('deeper than')).length, 1);
  const after = ground.contents();
  for (const [path, text] of Object.entries(before))
    if (!path.includes('good')) assert.equal(after[path], text, path);
  const status = ground.read('collaboration/AGENT_STATUS.md');
  assert.equal(status.split('\n').filter((line) => line.startsWith('- inbox/')).length, odd.length);
  assert.ok(!status.includes('\u001b'));
});

test('a name that is no text at all is told, too', async () => {
  using ground = new Ground(GOOD);
  // Elsewhere names are always text.
  const isPossible = process.platform === 'linux';
  const name = Buffer.concat([Buffer.from(ground.at('inbox/x')), Buffer.from([0xff]), Buffer.from('.yaml')]);
  if (isPossible) writeFileSync(name, task('x'));
  const { problems } = await ground.pass();
  assert.equal(problems.length, isPossible ? 1 : 0);
  assert.ok(ground.has(ASSIGNED));
});

test('six hundred tasks on one artefact, each with the same dependency, take no time to speak of', async () => {
  using ground = new Ground();
  const count = 600;
  for (let n = 0; n < count; n += 1)
    ground.write(
      `assigned/ann/t${n}.yaml`,
      task(
        `t${n}`,
        { status: 'in_progress', started_at: '2026-03-10T11:59:00Z' },
        'context: {dependencies: [t0]}\n',
      ),
    );
  const start_ms = performance.now();
  const { findings } = await ground.pass();
  assert.equal(findings.length, 1);
  assert.ok(performance.now() - start_ms < 10_000);
});
