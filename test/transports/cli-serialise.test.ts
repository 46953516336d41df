import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { decideInbox } from '../../src/features/claims/cli/serialise-log.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { StoreFailure } from '../../src/kernel/refusal.ts';
import type { Serialised, Serialiser } from '../../src/ledger/serialiser.ts';
import { arrivals } from '../../src/stores/files/arrivals.ts';
import { INBOX, listProposals, remove, stage } from '../../src/stores/files/inbox.ts';
import { NoStore } from '../../src/stores/no-store.ts';
import { until } from '../support/until.ts';
import { cox, fakeTerminal, scratch } from './support.ts';

/** A folder whose proposals are all granted, by the inbox as it is and without anything behind it. */
function granting(events: string, fail: () => void = () => {}) {
  const serialiser: Serialiser = {
    async serialise(): Promise<Serialised> {
      fail();
      const { staged, set_aside } = listProposals(events);
      const decided = staged.map(({ proposal_id, agent_id, proposal }) => ({
        proposal: proposal_id,
        agent_id,
        event_type: proposal.event_type,
        feature: 'feature' in proposal ? proposal.feature : undefined,
        edge: 'edge' in proposal ? proposal.edge : undefined,
        outcome:
          agent_id === 'bert'
            ? { success: false, action: 'claim_rejected', message: 'already claimed by \u001b[31manna' }
            : { success: true, action: 'edge_started' },
      }));
      for (const one of staged) remove(one);
      return { taken: staged.length, decided, set_aside };
    },
    arrivals: (signal) => arrivals(join(events, INBOX), systemClock, signal),
  };
  return {
    store: Object.assign(new NoStore(), serialiser),
    store_url: `files:${events}`,
    clock: systemClock,
  };
}

function folder(): { events: string } & Disposable {
  const events = mkdtempSync(join(tmpdir(), 'cox-serialise-'));
  return { events, [Symbol.dispose]: () => rmSync(events, { recursive: true, force: true }) };
}

const claim = (agent_id: string) => ({
  event_type: 'edge_claim',
  agent_id,
  feature: 'F-1',
  edge: 'design→code',
});

test('[CLAIM-9] one pass says what became of each proposal, in words and in JSON', async () => {
  using place = folder();
  stage(place.events, claim('anna'));
  stage(place.events, claim('bert'));
  mkdirSync(join(place.events, INBOX, 'anna', 'x.json'));
  const { terminal, written } = fakeTerminal(place.events);
  await decideInbox(granting(place.events), {}, terminal);
  assert.deepEqual(written.out.split('\n'), [
    'anna  edge_claim F-1 design→code -> edge_started',
    'bert  edge_claim F-1 design→code -> claim_rejected: already claimed by  [31manna',
    'set aside set-aside/anna/x.json: it is not a regular file',
    '',
  ]);
  stage(place.events, claim('carl'));
  const answer = await decideInbox(granting(place.events), { json: true }, terminal);
  assert.equal(answer.success, true);
  assert.deepEqual([answer.taken, (answer.decided as { agent_id: string }[])[0]?.agent_id], [1, 'carl']);
  await decideInbox(granting(place.events), {}, terminal);
  assert.match(written.out, /Nothing was proposed\.\n$/);
});

test('[CLAIM-9] watching takes what comes, survives a deleted inbox and a store that is away, and stops', async () => {
  using place = folder();
  const { terminal, written } = fakeTerminal(place.events);
  const gone = new AbortController();
  let away = 1;
  const fail = () => {
    if (away-- > 0) throw new StoreFailure('database_unavailable', 'Somebody else has the seat.');
  };
  const listeners = process.listenerCount('SIGINT');
  const watching = decideInbox(
    granting(place.events, fail),
    { watch: true, json: true },
    { ...terminal, gone: gone.signal },
  );
  const seen = async (agent_id: string) => {
    stage(place.events, claim(agent_id));
    await until(async () => written.out.includes(`"agent_id":"${agent_id}"`));
  };
  await seen('anna');
  assert.match(written.err, /Somebody else has the seat/);
  await seen('bert');
  rmSync(join(place.events, INBOX), { recursive: true });
  await seen('carl');
  gone.abort();
  assert.deepEqual(await watching, { success: true });
  assert.equal(process.listenerCount('SIGINT'), listeners);
  const lines = written.out.trim().split('\n');
  assert.deepEqual(
    lines.map((line) => (JSON.parse(line) as { type: string }).type),
    ['decided', 'decided', 'decided'],
  );
});

test('what does not mend itself ends the watching', async () => {
  using place = folder();
  const damaged = granting(place.events, () => {
    throw new StoreFailure('store_damaged', 'A row is missing.');
  });
  const { terminal } = fakeTerminal(place.events);
  await assert.rejects(decideInbox(damaged, { watch: true, json: true }, terminal), /A row is missing/);
});

test('a proposal that comes between two looks is heard of, and nothing is left behind', async () => {
  using place = folder();
  const over = new AbortController();
  const coming = arrivals(join(place.events, INBOX), systemClock, over.signal);
  assert.equal((await coming.next()).done, false);
  mkdirSync(join(place.events, INBOX));
  assert.equal((await coming.next()).done, false);
  over.abort();
  assert.equal((await coming.next()).done, true);
});

test('[CLAIM-9] on another store there is nothing to serialise, and the answer says what to do', async () => {
  using place = scratch();
  const options = { cwd: place.folder, env: { COX_STORE: place.store } };
  const refused = await cox(['serialise', '--json'], options);
  assert.equal(refused.code, 1);
  const answer = JSON.parse(refused.out) as Record<string, unknown>;
  assert.equal(answer.error, 'store_decides_at_once');
  assert.match(String(answer.message), /sqlite/);
  assert.match(String(answer.remedy), /--store files:/);
  const help = await cox(['serialise', '--help'], options);
  assert.match(help.out, /--watch/);
});
