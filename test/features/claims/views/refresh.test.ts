import assert from 'node:assert/strict';
import { existsSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { claimEvent } from '../../../../src/features/claims/edge-claim.ts';
import type { Feature } from '../../../../src/features/claims/routing/feature.ts';
import type { JsonObject } from '../../../../src/kernel/json.ts';
import { watchDisk } from '../../promotion/faults.ts';

// After the faults, so that both import the wrapped ones.
const { Yard, FEATURE, EDGE } = await import('../../promotion/support.ts');
const { refreshViews } = await import('../../../../src/features/claims/views/refresh.ts');
type AnyYard = InstanceType<typeof Yard>;

const FILE = 'features/active/AUTH-1.yml';
const TEXT = `feature: ${FEATURE} # sign in\nstatus: pending\ntrajectory:\n  code:\n    status: pending # soon\n`;

function planned(feature: string, file: string | undefined): Feature {
  return {
    feature,
    file,
    vector_type: 'feature',
    status: 'pending',
    priority: 5,
    trajectory: [],
    dependencies: [],
    touched_ms: 0,
  };
}

async function prepared(): Promise<AnyYard> {
  const yard = await Yard.open();
  yard.write(`.ai-workspace/${FILE}`, TEXT);
  yard.features = [planned(FEATURE, FILE)];
  return yard;
}

const converge = (yard: AnyYard, feature = FEATURE, iteration = 2) =>
  yard.commit(
    claimEvent({ feature, edge: EDGE }, 'edge_converged', {
      agent_id: 'alice',
      agent_role: 'full_stack',
      iteration,
      evaluators: '3/3',
    }),
  );

const viewing = (yard: AnyYard) => ({
  fleet: {
    folder: yard.fleet,
    plan: async () => ({ features: yard.features, modules: {}, problems: [] }),
  },
  find: (needs: Parameters<AnyYard['store']['find']>[1]) => yard.store.find('default', needs),
});

const file = (yard: AnyYard) => yard.read(`.ai-workspace/${FILE}`) ?? '';
const views = (yard: AnyYard) =>
  ['claims.json', 'STATUS.md'].map((name) => yard.read(`.ai-workspace/views/${name}`) ?? '');

test('[CLAIM-13] after a convergence the feature file and the views say so, and a second time nothing is written', async () => {
  await using yard = await prepared();
  await yard.claim('alice');
  await converge(yard);
  const first = await yard.agent('alice')('rebuild_views');
  assert.deepEqual(first.written, [FILE, 'views/STATUS.md', 'views/claims.json']);
  assert.match(
    file(yard),
    /^feature: AUTH-1 # sign in\nstatus: converged\ntrajectory:\n {2}code:\n {4}status: converged # soon\n/,
  );
  assert.match(file(yard), /iteration: 2\n {4}started_at: .*\n {4}converged_at: /);
  const [json = '', markdown = ''] = views(yard);
  const [row] = (JSON.parse(json) as { claims: JsonObject[] }).claims;
  assert.deepEqual(
    [row?.feature, row?.edge, row?.status, row?.evaluators],
    [FEATURE, 'design_code', 'converged', '3/3'],
  );
  assert.match(markdown, /1 of 1 edges converged/);
  const before = statSync(join(yard.fleet, FILE));
  assert.deepEqual((await yard.agent('bob')('rebuild_views')).written, []);
  const after = statSync(join(yard.fleet, FILE));
  assert.deepEqual([after.mtimeMs, after.ino], [before.mtimeMs, before.ino]);
});

test('[CLAIM-13] rebuilt from nothing the views are the same bytes, and nothing is left aside', async () => {
  await using yard = await prepared();
  for (const feature of ['B', FEATURE, 'a|b `<x>` [l](u)']) await yard.claim('alice', feature);
  await converge(yard);
  await refreshViews(viewing(yard));
  const [before, text] = [views(yard), file(yard)];
  assert.match(before[1] ?? '', /\| a\\\|b \\`\\<x\\>\\` \\\[l\\\]\(u\) \|/, 'no name ends its cell');
  rmSync(join(yard.fleet, 'views'), { recursive: true });
  writeFileSync(join(yard.fleet, FILE), TEXT);
  await refreshViews(viewing(yard));
  assert.deepEqual([views(yard), file(yard)], [before, text]);
  const names = readdirSync(yard.fleet, { recursive: true }) as string[];
  assert.deepEqual(
    names.filter((name) => name.endsWith('.cox')),
    [],
  );
});

test('[CLAIM-13] without a workspace folder or a feature file nothing is written in their place', async () => {
  await using yard = await prepared();
  await yard.claim('alice');
  yard.features = [planned(FEATURE, undefined), planned('OTHER', 'features/gone.yml')];
  await yard.claim('alice', 'OTHER');
  await refreshViews(viewing(yard));
  assert.equal(existsSync(join(yard.fleet, 'features/gone.yml')), false);
  assert.equal(file(yard), TEXT);
  rmSync(yard.fleet, { recursive: true });
  assert.deepEqual(await refreshViews(viewing(yard)), { written: [], problems: [] });
  assert.equal(existsSync(yard.fleet), false);
});

test('[CLAIM-13] a file that is a link, no text or no YAML is left alone and named; the others are written', async () => {
  await using yard = await prepared();
  const outside = join(yard.root, 'elsewhere.yml');
  writeFileSync(outside, TEXT);
  symlinkSync(outside, join(yard.fleet, 'features/link.yml'));
  writeFileSync(join(yard.fleet, 'features/latin.yml'), Buffer.from('feature: caf\xe9\n', 'latin1'));
  yard.write('.ai-workspace/features/broken.yml', 'a: [');
  const odd = ['link', 'latin', 'broken'].map((name) => planned(name, `features/${name}.yml`));
  yard.features = [...odd, planned('up', '../elsewhere.yml'), ...yard.features];
  for (const { feature } of yard.features) await yard.claim('alice', feature);
  const { problems, written } = await refreshViews(viewing(yard));
  assert.deepEqual(problems.map((problem) => problem.file).sort(), [
    '../elsewhere.yml',
    'features/broken.yml',
    'features/latin.yml',
    'features/link.yml',
  ]);
  assert.ok(written.includes(FILE));
  assert.equal(yard.read('elsewhere.yml'), TEXT);
});

test('[CLAIM-13] what a person saves while it is rewritten is not lost', async () => {
  await using yard = await prepared();
  await yard.claim('alice');
  await converge(yard);
  let saves = 0;
  watchDisk(async (step) => {
    // The editor saves while the new text lies aside, on its way to the disk.
    if (step !== 'sync' || saves >= 3) return;
    saves += 1;
    const text = file(yard);
    if (text !== '') writeFileSync(join(yard.fleet, FILE), `${text}# note ${saves}\n`);
  });
  await refreshViews(viewing(yard));
  watchDisk(undefined);
  assert.match(file(yard), /status: converged/);
  for (const note of [1, 2, 3]) assert.match(file(yard), new RegExp(`# note ${note}\n`));
});

test('[CLAIM-13] of two writers the one that writes last has the newest, though it began with the older', async () => {
  await using yard = await prepared();
  await yard.claim('alice');
  let between = false;
  watchDisk(async (step) => {
    if (step !== 'rename' || between) return;
    // The first has read the state and is about to put its file in place; another converges and writes all of it.
    between = true;
    await converge(yard);
    await refreshViews(viewing(yard));
  });
  await refreshViews(viewing(yard));
  watchDisk(undefined);
  assert.match(file(yard), /^status: converged$/m);
  assert.match(views(yard)[1] ?? '', /1 of 1 edges converged/);
});

test('[CLAIM-13] disk trouble is reported, and the file is the old one', async () => {
  await using yard = await prepared();
  await yard.claim('alice');
  watchDisk(async (step, cut) => {
    if (step !== 'write') return;
    await cut();
    throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
  });
  const { written, problems } = await refreshViews(viewing(yard));
  watchDisk(undefined);
  assert.deepEqual([written, file(yard)], [[], TEXT]);
  assert.deepEqual(
    problems.map(({ reason }) => reason),
    ['ENOSPC', 'ENOSPC', 'ENOSPC'],
  );
  const names = readdirSync(yard.fleet, { recursive: true }) as string[];
  assert.deepEqual(
    names.filter((name) => name.endsWith('.cox')),
    [],
  );
});

test('[CLAIM-13] more claims than one page has are all in the views', async () => {
  await using yard = await prepared();
  const lease = {
    agent_id: 'a',
    agent_type: 't',
    session_id: 's',
    token: 1,
    granted_at_ms: 0,
    expires_at_ms: 9e15,
  };
  const started = (index: number) =>
    claimEvent({ feature: `F-${index}`, edge: EDGE }, 'edge_started', { granted_to: 'a', lease });
  for (let from = 0; from < 1100; from += 50)
    await yard.commit(...Array.from({ length: 50 }, (_, index) => started(from + index)));
  await refreshViews(viewing(yard));
  const { claims } = JSON.parse(views(yard)[0] ?? '{}') as { claims: JsonObject[] };
  assert.equal(new Set(claims.map(({ feature }) => feature)).size, 1100);
});
