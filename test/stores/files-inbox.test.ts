import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { convergeEdge } from '../../src/features/claims/schemas/claim-schemas.ts';
import type { Json, JsonObject } from '../../src/kernel/json.ts';
import { limits } from '../../src/kernel/limits.ts';
import { listProposals, remove, stage } from '../../src/stores/files/inbox.ts';
import { agentOf, belongsTo, fileName, folderOf } from '../../src/stores/files/inbox-names.ts';
import { proposalOf } from '../../src/stores/files/inbox-proposal.ts';

function eventsFolder(): { events: string } & Disposable {
  const events = mkdtempSync(join(tmpdir(), 'cox-inbox-'));
  return { events, [Symbol.dispose]: () => rmSync(events, { recursive: true, force: true }) };
}

const CLAIM = { event_type: 'edge_claim', feature: 'F-1', edge: 'design→code' };
/** Long enough after it was written that nothing of it can still be on its way. */
const later = { now_ms: () => Date.now() + 60_000 };

function put(events: string, folder: string, name: string, content: JsonObject | string, age_s = 60): void {
  const path = join(events, 'inbox', folder, name);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  const at_s = Date.now() / 1000 - age_s;
  utimesSync(path, at_s, at_s);
}

test('[CLAIM-9] a proposal lies in its agent’s folder under the moment, as others write theirs', () => {
  using place = eventsFolder();
  const clock = { now_ms: () => Date.parse('2031-02-23T10:30:00.123Z') };
  const path = stage(place.events, { ...CLAIM, agent_id: 'anna', agent_role: 'architect' }, clock);
  assert.equal(path, join(place.events, 'inbox', 'anna', '20310223T103000123000_edge_claim.json'));
  const { timestamp, ...said } = JSON.parse(readFileSync(path, 'utf8')) as JsonObject;
  assert.equal(timestamp, '2031-02-23T10:30:00.123Z');
  assert.deepEqual(said, { ...CLAIM, agent_id: 'anna', agent_role: 'architect' });
  const [staged] = listProposals(place.events).staged;
  assert.ok(staged);
  assert.equal(staged.proposal_id, 'anna/20310223T103000123000_edge_claim.json');
  remove(staged);
  assert.deepEqual(listProposals(place.events), { staged: [], set_aside: [] });
  // Nothing half-done is left.
  assert.deepEqual(readdirSync(join(place.events, 'inbox', 'anna')), []);
});

test('[CLAIM-9] processes of one agent in the same microsecond never overwrite each other', async () => {
  using place = eventsFolder();
  const worker = fileURLToPath(new URL('./files-inbox-worker.ts', import.meta.url));
  const names = ['p', 'q', 'r', 's'];
  const ended = names.map((name) => {
    const child = spawn(process.execPath, [worker, place.events, '30', name], { stdio: 'inherit' });
    return once(child, 'exit');
  });
  for (const [code] of await Promise.all(ended)) assert.equal(code, 0);
  const { staged, set_aside } = listProposals(place.events);
  assert.deepEqual(set_aside, []);
  const features = staged.map(({ proposal }) => ('feature' in proposal ? proposal.feature : ''));
  assert.equal(new Set(features).size, 120);
  // Each process's own in the order in which it staged them.
  for (const name of names) {
    const own = features.filter((feature) => feature.startsWith(`${name}-`));
    assert.deepEqual(
      own,
      Array.from({ length: 30 }, (_, n) => `${name}-${n}`),
    );
  }
});

test('[CLAIM-9] order: agent in byte order, then sequence, then when it was written, then name', () => {
  using place = eventsFolder();
  const { events } = place;
  put(events, 'b', '3.json', CLAIM, 60);
  put(events, 'b', '10.json', CLAIM, 90);
  // What its writer put into the name is that machine's clock; what counts is when it got here.
  put(events, 'b', '20260222T000000000001_edge_claim.json', CLAIM, 50);
  put(events, 'b', '20260223T000000000001_edge_claim.json', CLAIM, 70);
  const [same, path] = [new Date(Date.now() - 3_600_000), join(events, 'inbox', 'b')];
  for (const name of ['n.json', 'm.json']) {
    put(events, 'b', name, CLAIM);
    utimesSync(join(path, name), same, same);
  }
  put(events, 'a', 'z.json', { ...CLAIM, sequence: 1 }, 10);
  put(events, 'a', 'y.json', { ...CLAIM, sequence: 2 }, 90);
  put(events, 'a', 'x.json', CLAIM, 99);
  put(events, 'B', 'x.json', CLAIM);
  // UTF-16 would put the first of these before the second.
  put(events, '\u{1F6A3}', 'x.json', CLAIM);
  put(events, '\uff5e', 'x.json', CLAIM);
  const { staged, set_aside } = listProposals(events);
  assert.deepEqual(set_aside, []);
  assert.deepEqual(
    staged.map(({ proposal_id }) => proposal_id),
    [
      'B/x.json',
      'a/z.json',
      'a/y.json',
      'a/x.json',
      'b/3.json',
      'b/10.json',
      'b/m.json',
      'b/n.json',
      'b/20260223T000000000001_edge_claim.json',
      'b/20260222T000000000001_edge_claim.json',
      '\uff5e/x.json',
      '\u{1F6A3}/x.json',
    ],
  );
});

test('[CLAIM-9] of more proposals than one pass decides the oldest come first, whatever their names', () => {
  using place = eventsFolder();
  const { events } = place;
  for (let index = 0; index < 1010; index += 1)
    put(events, 'b', `${String(9999 - index)}-claim.json`, CLAIM, 5000 - index);
  const { staged } = listProposals(events);
  assert.equal(staged.length, 1000);
  assert.equal(staged[0]?.proposal_id, 'b/9999-claim.json');
  assert.equal(staged.at(-1)?.proposal_id, 'b/9000-claim.json');
});

test('[CLAIM-9] what is no proposal is moved aside with its reason, and reported', () => {
  using place = eventsFolder();
  const { events } = place;
  const cases: [JsonObject | string, RegExp][] = [
    ['{"event_type":"edge_cla', /not JSON/],
    ['', /empty/],
    ['[1]', /not a JSON object/],
    [`{"a":${'['.repeat(9999)}${']'.repeat(9999)}}`, /nested deeper/],
    [{ feature: 'F', edge: 'e' }, /does not say what it proposes/],
    [{ ...CLAIM, agent_id: 'bert' }, /speaks for another agent/],
    [{ event_type: 'edge_claim', data: { ...CLAIM, agent_id: 'bert' } }, /speaks for another agent/],
    [{ event_type: 'spec_modified' }, /nothing that is decided here/],
    [{ event_type: 'edge_started', feature: 'F', edge: 'e' }, /nothing that is decided here/],
    [{ event_type: 'edge_claim', feature: 'F' }, /edge is not a text/],
    [{ ...CLAIM, feature: 'x'.repeat(201) }, /feature is not a text/],
    [{ ...CLAIM, edge: 'a\u001b[2J' }, /edge is not a text/],
    [{ ...CLAIM, sequence: 'first' }, /sequence/],
    [{ ...CLAIM, sequence: -1 }, /sequence/],
    [{ ...CLAIM, event_type: 'iteration_completed', iteration: '3' }, /iteration/],
    [{ ...CLAIM, event_type: 'edge_converged', evaluators: ['x'] }, /evaluators/],
  ];
  for (const [index, [content]] of cases.entries()) put(events, 'anna', `bad-${index}.json`, content);
  put(events, 'anna', 'good.json', CLAIM);
  put(events, 'person%3Abob', 'x.json', CLAIM);
  const { staged, set_aside } = listProposals(events, later);
  assert.deepEqual(
    staged.map(({ proposal_id }) => proposal_id),
    ['anna/good.json'],
  );
  assert.equal(set_aside.length, cases.length + 1);
  for (const [index, [, reason]] of cases.entries()) {
    const file = join('set-aside', 'anna', `bad-${index}.json`);
    assert.match(set_aside.find((one) => one.file === file)?.reason ?? '', reason, file);
    assert.match(readFileSync(join(events, `${file}.reason.txt`), 'utf8'), reason);
    assert.ok(existsSync(join(events, file)));
  }
  assert.match(set_aside.at(-1)?.reason ?? '', /can't have that name/);
  // Reported once, and the same name again is kept too.
  put(events, 'anna', 'bad-0.json', 'second');
  const again = listProposals(events, later).set_aside;
  assert.deepEqual(
    again.map(({ file }) => file),
    [join('set-aside', 'anna', '2~bad-0.json')],
  );
  assert.equal(readFileSync(join(events, 'set-aside', 'anna', '2~bad-0.json'), 'utf8'), 'second');
});

test('[CLAIM-9] half of a file is left until the rest must have come', () => {
  using place = eventsFolder();
  const { events } = place;
  put(events, 'anna', 'half.json', '{"event_type":"edge_', 0);
  put(events, 'anna', 'other.json.tmp', 'x', 0);
  assert.deepEqual(listProposals(events), { staged: [], set_aside: [] });
  put(events, 'anna', 'half.json', CLAIM, 0);
  assert.equal(listProposals(events).staged.length, 1);
  assert.match(listProposals(events, later).set_aside[0]?.reason ?? '', /does not end in .json/);
  // A file from the future does not wait for it.
  put(events, 'anna', 'future.json', '{', -7200);
  assert.equal(listProposals(events).set_aside.length, 1);
});

test('[CLAIM-9] links, pipes, folders and endless files are moved, never followed or read', () => {
  using place = eventsFolder();
  using elsewhere = eventsFolder();
  const { events } = place;
  put(elsewhere.events, 'anna', 'claim.json', CLAIM);
  const target = join(elsewhere.events, 'inbox', 'anna');
  put(events, 'anna', 'real.json', CLAIM);
  symlinkSync(join(target, 'claim.json'), join(events, 'inbox', 'anna', 'link.json'));
  symlinkSync('/nowhere', join(events, 'inbox', 'anna', 'dangling.json'));
  symlinkSync(target, join(events, 'inbox', 'linked-agent'));
  mkdirSync(join(events, 'inbox', 'anna', 'folder.json'));
  execFileSync('mkfifo', [join(events, 'inbox', 'anna', 'pipe.json')]);
  put(events, 'anna', 'huge.json', ' '.repeat(limits.proposal_bytes_max + 1));
  put(events, '.', 'stray.json', CLAIM);
  put(events, 'anna', `${'n'.repeat(240)}.json`, '{');
  const { staged, set_aside } = listProposals(events, later);
  assert.deepEqual(
    staged.map(({ proposal_id }) => proposal_id),
    ['anna/real.json'],
  );
  assert.deepEqual(set_aside.length, 8, JSON.stringify(set_aside));
  assert.equal(set_aside.filter(({ reason }) => /not a regular file/.test(reason)).length, 4);
  assert.ok(existsSync(join(target, 'claim.json')));
  assert.deepEqual(readdirSync(join(events, 'inbox')), ['anna']);
  assert.deepEqual(readdirSync(join(events, 'inbox', 'anna')), ['real.json']);
  // Nor is what is set aside put wherever a link leads.
  rmSync(join(events, 'set-aside'), { recursive: true });
  symlinkSync(target, join(events, 'set-aside'));
  put(events, 'anna', 'bad.json', '{');
  assert.match(listProposals(events, later).set_aside[0]?.reason ?? '', /could not be moved aside/);
  assert.deepEqual(readdirSync(target).sort(), ['anna', 'claim.json']);
});

test('[CLAIM-9] an inbox that is deleted, or a link, is an empty one; staging makes it anew', () => {
  using place = eventsFolder();
  const { events } = place;
  assert.deepEqual(listProposals(join(events, 'nowhere')), { staged: [], set_aside: [] });
  stage(events, { ...CLAIM, agent_id: 'anna' });
  const [staged] = listProposals(events).staged;
  assert.ok(staged);
  rmSync(join(events, 'inbox'), { recursive: true });
  remove(staged);
  assert.deepEqual(listProposals(events), { staged: [], set_aside: [] });
  stage(events, { ...CLAIM, agent_id: 'anna' });
  assert.equal(listProposals(events).staged.length, 1);
  writeFileSync(join(events, 'file'), '');
  assert.throws(() => stage(join(events, 'file'), { ...CLAIM, agent_id: 'anna' }), /ENOTDIR|EEXIST/);
});

test('a writer that uses one name for all it proposes loses nothing', () => {
  using place = eventsFolder();
  const { events } = place;
  put(events, 'anna', 'claim.json', CLAIM, 10);
  const [first] = listProposals(events).staged;
  assert.ok(first);
  put(events, 'anna', 'claim.json', { ...CLAIM, feature: 'F-2' }, 5);
  remove(first);
  const [second] = listProposals(events).staged;
  assert.equal(second && 'feature' in second.proposal && second.proposal.feature, 'F-2');
});

test('what a dead process left half-staged is cleared away', () => {
  using place = eventsFolder();
  const { events } = place;
  put(events, 'anna', '.20260223T000000000001_edge_claim.json.1234.aside', '{"event_', 0);
  put(events, 'anna', '.gitkeep', '');
  listProposals(events);
  assert.equal(readdirSync(join(events, 'inbox', 'anna')).length, 2);
  assert.deepEqual(listProposals(events, later), { staged: [], set_aside: [] });
  assert.deepEqual(readdirSync(join(events, 'inbox', 'anna')), ['.gitkeep']);
});

test('[CLAIM-9] the words of others for a proposal, in any shape', () => {
  const said = (record: JsonObject) => proposalOf(JSON.stringify(record), 'anna');
  const about = { feature: 'F-1', edge: 'design→code', agent_id: 'anna' };
  const common = { ...about, sequence: undefined };
  const read = (record: JsonObject) =>
    Object.fromEntries(Object.entries(said(record)).filter(([, value]) => value !== undefined));
  const expected = Object.fromEntries(Object.entries(common).filter(([, value]) => value !== undefined));
  for (const claim of [
    { event_type: 'edge_claim', ...about },
    { event_type: 'edge_claim', data: about },
    { event_type: 'edge_claim', feature: null, edge: '', data: about },
    { run: { facets: { 'sdlc:event_type': { type: 'EdgeClaimed' }, 'sdlc:payload': about } } },
  ])
    assert.deepEqual(read(claim), { ...expected, event_type: 'edge_claim' });
  assert.deepEqual(read({ event_type: 'edge_released', ...about, reason: 'two\nlines' }), {
    ...expected,
    event_type: 'edge_released',
    reason: 'two\nlines',
  });
  assert.deepEqual(read({ event_type: 'iteration_completed', ...about, data: { iteration: 3 } }), {
    ...expected,
    event_type: 'edge_heartbeat',
    iteration: 3,
  });
  const ended = { event_type: 'edge_converged', ...about };
  for (const [evaluators, kept] of [
    ['3/4', '3/4'],
    [{ passed: 3, total: 4, details: [] }, '3/4'],
    [[{ name: 'tests', passed: true }], [{ name: 'tests', passed: true }]],
  ] as const)
    assert.deepEqual(read({ ...ended, evaluators } as unknown as JsonObject).evaluators, kept);
});

test('[CLAIM-9] [CLAIM-3] evaluators that a call may name are read from the file that it is left as, and no others', () => {
  const about = { feature: 'F-1', edge: 'design→code' };
  const agree = (evaluators: Json) => {
    const called = convergeEdge.parse({ ...about, evaluators }).ok;
    const read = proposalOf(JSON.stringify({ event_type: 'edge_converged', ...about, evaluators }), 'anna');
    assert.equal(!('problem' in read), called, JSON.stringify(evaluators));
    if (called && 'evaluators' in read) assert.deepEqual(read.evaluators, evaluators);
  };
  const long = limits.evaluator_name_chars_max;
  const odd = ['', ' ', ' x', 'x ', 'passes ✔️', 'a\u200bb', '\ud800', 'a\nb', 'a\0', 'ä 👩‍💻', '\u3164'];
  for (const name of ['x'.repeat(150), 'x'.repeat(long), 'x'.repeat(long + 1), ...odd])
    agree([{ name, passed: true }]);
  for (const score of ['3/3', '3/4', '4/3', '0/0', '1/1000000', '1', '/', 'a/b', '']) agree(score);
  agree(Array.from({ length: limits.evaluators_max + 1 }, () => ({ name: 'x', passed: true })));
  const name = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ minLength: 120, maxLength: 220 }));
  const evaluator = fc.record({ name, passed: fc.boolean() }, { noNullPrototype: true });
  fc.assert(fc.property(fc.array(evaluator), agree), { numRuns: 200 });
});

test('[CLAIM-9] what one of ours brings along says whose call it was, and nothing of what it comes to', () => {
  const said = (record: JsonObject) => proposalOf(JSON.stringify(record), 'anna');
  const actor = { agent_id: 'anna', agent_type: 'cli', session_id: 's' };
  const call = { project: 'default', sequence: 4, operation_id: 'o', input_digest: '' };
  const claimed = { event_type: 'edge_claim', feature: 'F-1', edge: 'design→code' };
  const command = { name: 'decide_approval', args: [{ verdict: 'approved' }] };
  const own = said({ ...claimed, cox: { request: { ...call, actor, operation: 'approve' }, command } });
  assert.ok('left' in own, JSON.stringify(own));
  assert.deepEqual(own.left, { ...call, agent_type: 'cli', session_id: 's' });
  assert.ok(!JSON.stringify(own).includes('approve'));
  const asPerson = { ...actor, agent_type: 'person' };
  for (const cox of [{}, { request: {} }, { request: { ...call, actor: asPerson } }])
    assert.ok('problem' in said({ ...claimed, cox } as unknown as JsonObject), JSON.stringify(cox));
  const lock = { ...claimed, event_type: 'acquire_lock', cox: { request: { ...call, actor } } };
  assert.ok('problem' in said(lock), 'ours are of the same kinds');
});

test('[CLAIM-9] every name has a folder of its own that leads back to it', () => {
  const names = [
    'anna',
    'a/b',
    '..',
    '.',
    '.hidden',
    'a.',
    'a ',
    'CON',
    'nul.x',
    '%41',
    'a%',
    'team:a*?"<>|\\',
  ];
  for (const name of [...names, 'ä→🚣', 'x'.repeat(128), '🚣'.repeat(64)]) {
    const folder = folderOf(name);
    assert.ok(belongsTo(folder, name), name);
    assert.ok(Buffer.byteLength(folder) <= 255 && !/[/\\:*?"<>|]|^\.|[. ]$/.test(folder), folder);
    if (!folder.startsWith('%~')) assert.equal(agentOf(folder), name);
    using place = eventsFolder();
    stage(place.events, { ...CLAIM, agent_id: name });
    const { staged, set_aside } = listProposals(place.events);
    assert.deepEqual([staged.map(({ agent_id }) => agent_id), set_aside], [[name], []]);
  }
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 1 }), fc.string({ unit: 'binary' }), (a, b) => {
      assert.ok(belongsTo(folderOf(a), a));
      if (a !== b) assert.notEqual(folderOf(a), folderOf(b));
    }),
  );
  assert.ok(fileName(1, '../../etc/passwd').endsWith('_______etc_passwd.json'));
});

test('[CLAIM-9] no content of a file makes the listing throw', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.json(),
        fc.string({ unit: 'binary' }),
        fc.json().map((t) => t.slice(0, -1)),
      ),
      (text) => {
        const read = proposalOf(text, 'anna');
        assert.ok('problem' in read || read.agent_id === 'anna');
      },
    ),
  );
});
