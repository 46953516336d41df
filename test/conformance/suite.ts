import { after, before, describe } from 'node:test';
import type { Coxswain } from '../../src/runtime/coxswain.ts';
import { approvalCases } from './approvals.ts';
import { areaCases } from './areas.ts';
import { boardCases } from './board.ts';
import { claimCases } from './claims.ts';
import { dependencyCases } from './dependencies.ts';
import { type Call, type Engine, type Fixture, patientAgent } from './engine.ts';
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
import { taskFileCases } from './task-files.ts';
import { watchCases } from './watch.ts';

/** What each group of cases gets: one opened store, agents on it, and the fixture for those that open more. */
export interface Scene {
  readonly engine: string;
  coxswain(): Coxswain;
  fixture(): Fixture;
  agent(agent_id: string, session_id?: string): Call;
}

const GROUPS: Readonly<Record<string, (scene: Scene) => void>> = {
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
  claims: claimCases,
  board: boardCases,
  'task files': taskFileCases,
  watch: watchCases,
  races: raceCases,
  processes: processCases,
};
const START = 'start';
/** Each has a store of its own, and much of it is waiting until something is over. */
const GROUPS_AT_ONCE = 3;
/** Without it the cases of a group would run at once, too. */
const IN_ORDER = { concurrency: 1 };

/** All groups but these: for a store whose suite is parted between the daily run and the long one. */
export function allBut(...names: readonly string[]): string[] {
  return [...Object.keys(GROUPS), START].filter((name) => !names.includes(name));
}

/** The one entry: every store passes all of it. */
export function conformance(engine: Engine): void {
  // No other process can reach the in-memory store.
  const alone = engine.name === 'memory' ? ['processes', START] : [];
  const wanted = (engine.only ?? allBut()).filter((name) => !alone.includes(name));
  describe(engine.name, { concurrency: engine.at_once ?? GROUPS_AT_ONCE }, () => {
    for (const [name, cases] of Object.entries(GROUPS))
      if (wanted.includes(name)) describe(`${engine.name}: ${name}`, IN_ORDER, () => cases(scene(engine)));
    if (wanted.includes(START)) describe(`${engine.name}: ${START}`, IN_ORDER, () => startCases(engine));
  });
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
    agent: (agent_id, session_id) => patientAgent(coxswain, agent_id, session_id),
  };
}
