import { after, before, describe } from 'node:test';
import type { Coxswain } from '../../src/index.ts';
import { approvalCases } from './approvals.ts';
import { areaCases } from './areas.ts';
import { dependencyCases } from './dependencies.ts';
import { agent, type Call, type Engine, type Fixture } from './engine.ts';
import { keyCases } from './keys.ts';
import { ledgerCases } from './ledger.ts';
import { lineCases } from './line.ts';
import { lockCases } from './locks.ts';
import { mailCases } from './mail.ts';
import { overviewCases } from './overview.ts';
import { processCases, startCases } from './processes.ts';
import { profileCases } from './profiles.ts';
import { queueCases } from './queue.ts';
import { raceCases } from './races.ts';
import { sessionCases } from './sessions.ts';
import { watchCases } from './watch.ts';

/** What each group of cases gets: one opened store, agents on it, and the fixture for those that open more. */
export interface Scene {
  readonly engine: string;
  coxswain(): Coxswain;
  fixture(): Fixture;
  agent(agent_id: string, session_id?: string): Call;
}

/** The one entry: every store passes all of it. */
export function conformance(engine: Engine): void {
  const groups = {
    locks: lockCases,
    areas: areaCases,
    queue: queueCases,
    line: lineCases,
    dependencies: dependencyCases,
    sessions: sessionCases,
    mail: mailCases,
    overview: overviewCases,
    ledger: ledgerCases,
    keys: keyCases,
    approvals: approvalCases,
    profiles: profileCases,
    watch: watchCases,
    races: raceCases,
  };
  for (const [name, cases] of Object.entries(groups)) {
    if (engine.only !== undefined && !engine.only.includes(name)) continue;
    describe(`${engine.name}: ${name}`, () => cases(scene(engine)));
  }
  // No other process can reach the in-memory store.
  if (engine.name === 'memory' || engine.only !== undefined) return;
  describe(`${engine.name}: processes`, () => processCases(scene(engine)));
  describe(`${engine.name}: start`, () => startCases(engine));
}

function scene(engine: Engine): Scene {
  let fixture: Fixture;
  let coxswain: Coxswain;
  before(async () => {
    fixture = await engine.fresh();
    coxswain = await fixture.open();
  });
  after(() => fixture.drop());
  return {
    engine: engine.name,
    coxswain: () => coxswain,
    fixture: () => fixture,
    agent: (agent_id, session_id) => agent(coxswain, agent_id, session_id),
  };
}
