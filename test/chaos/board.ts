// node test/chaos/board.ts --claims 50 --kills 100
// An orchestrator is killed again and again while claims go through all three phases. At the end every claim is complete, every
// agent's part was executed once and delivered once, and the log replays to what the store holds.
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect, open } from '../../src/index.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { compareWithLive, replay } from '../../src/ledger/replay.ts';
import { entities } from '../../src/runtime/entities.ts';
import { until } from '../support/until.ts';
import { type Program, readOptions, startProgram, temporaryFolder } from './crew.ts';
import { readLog } from './log-check.ts';

const AGENTS = { ann: 'review', bob: 'claim', cat: 'claim', dan: 'exclusive' } as const;

/** Says that it began, works for a moment or for as long as it is held, and says what it made. What the last phase makes ends the story. */
const AGENT = `#!/bin/sh
echo "$COX_CLAIM_ID $AGENT_ID" >> "$EXECUTIONS"
sleep 0.1
while [ -e "$EXECUTIONS.hold" ]; do sleep 0.05; done
case "$AGENT_ID" in
  ann) echo '{"artefact_type":"Review","artefact_payload":"{}","summary":"fine"}' ;;
  *) echo '{"artefact_type":"Part","artefact_payload":"done","summary":"done","structural_type":"Terminal"}' ;;
esac
`;

export interface BoardKills {
  readonly claims: number;
  readonly kills: number;
  readonly adopted: number;
  readonly executions: number;
  readonly seconds: number;
  readonly faults: readonly string[];
  readonly summary: string;
}

export async function killOrchestrators(
  folder: string,
  claims: number,
  kills: number,
  orchestrators = 2,
): Promise<BoardKills> {
  const store = `sqlite:${join(folder, 'board.db')}`;
  const executions = join(folder, 'executions');
  mkdirSync(folder, { recursive: true });
  for (const file of [executions, `${executions}.hold`]) writeFileSync(file, '');
  writeFileSync(join(folder, 'agent.sh'), AGENT);
  chmodSync(join(folder, 'agent.sh'), 0o755);
  writeFileSync(join(folder, 'cox.yml'), configuration(executions));
  await publish(store, claims);
  const start_ms = performance.now();
  const news: string[] = [];
  const crew = Array.from({ length: orchestrators }, () => startOne(store, folder, news));
  let open = claims;
  let killed = 0;
  const kill = async (place: number) => {
    crew[place]?.child.kill('SIGKILL');
    await crew[place]?.exited;
    killed += 1;
    crew[place] = startOne(store, folder, news);
  };
  try {
    // The first time surely amid an agent's work, which another run then has to go on with.
    await until(async () => readFileSync(executions, 'utf8') !== '');
    for (const place of crew.keys()) await kill(place);
    await until(async () => adoptedIn(news) > 0);
    rmSync(`${executions}.hold`);
    while (open > 0 || killed < kills) {
      // A random moment: whatever is under way then is what the kill falls into.
      await systemClock.sleep(200 + Math.random() * 1000);
      open = await openClaims(store);
      if (killed >= kills) continue;
      // While there is nothing left to do, more of it comes: every kill is amid the work.
      if (open === 0) {
        await publish(store, 1);
        open = 1;
      }
      await kill(killed % crew.length);
    }
  } finally {
    for (const { child } of crew) child.kill('SIGTERM');
    await Promise.all(crew.map(({ exited }) => exited));
  }
  const seconds = (performance.now() - start_ms) / 1000;
  const done = readFileSync(executions, 'utf8').split('\n').filter(Boolean);
  const { faults, complete } = await judge(store, claims, done);
  const adopted = adoptedIn(news);
  const summary = `board: ${complete} claims complete, orchestrators killed ${killed} times, executions ${done.length}, adopted ${adopted}, faults ${faults.length} (${seconds.toFixed(1)} s)`;
  return { claims: complete, kills: killed, adopted, executions: done.length, seconds, faults, summary };
}

function adoptedIn(news: readonly string[]): number {
  return news.filter((line) => line.includes('"adopted"')).length;
}

function configuration(executions: string): string {
  const agents = Object.entries(AGENTS).map(
    ([name, bid]) =>
      `  ${name}: {role: ${name}, command: [./agent.sh], bidding_strategy: ${bid}, max_concurrent: 2, environment: ["EXECUTIONS=${executions}"]}`,
  );
  return `version: "1.0"\nagents:\n${agents.join('\n')}\n`;
}

function startOne(store: string, folder: string, news: string[]): Program {
  const program = startProgram(join(import.meta.dirname, '../features/board/orchestrator-worker.ts'), {
    store,
    folder,
  });
  void (async () => {
    for (;;) {
      const { value, done } = await program.lines.next();
      if (done === true) return;
      news.push(value);
    }
  })();
  return program;
}

async function publish(store: string, claims: number): Promise<void> {
  const user = await connect({ store, agent_id: 'user' });
  for (let n = 0; n < claims; n += 1)
    await user.call('publish_artefact', { type: 'Goal', payload: `goal ${n}` });
  await user.close();
}

async function openClaims(store: string): Promise<number> {
  const user = await connect({ store, agent_id: 'user' });
  try {
    const { claims } = await user.call('board_status', { limit: 200 });
    return (claims as unknown[]).length;
  } finally {
    await user.close();
  }
}

/** Nothing happened twice, nothing is left, and the log says the same as the store. */
async function judge(store: string, claims: number, done: readonly string[]) {
  const coxswain = await open({ store });
  try {
    const faults: string[] = [];
    const counts = new Map<string, number>();
    const count = (what: string) => counts.set(what, (counts.get(what) ?? 0) + 1);
    for (const line of done) count(`executed ${line}`);
    for (const { events } of await readLog(coxswain.store))
      for (const { kind, id, type, data } of events) {
        if (kind === 'artefact' && (data.late === true || data.structural_type === 'Failure'))
          faults.push(
            `artefact ${id}: late ${String(data.late)}, ${String(data.structural_type)} ${String(data.payload)}`,
          );
        if (kind !== 'board_claim') continue;
        if (type === 'phase_started') count(`phase ${id} ${String(data.phase)}`);
        if (type === 'work_delivered') count(`delivered ${id} ${String(data.agent_id)}`);
        if (type === 'claim_completed') count(`completed ${id}`);
        if (type === 'claim_terminated' || type === 'grant_repeated') faults.push(`${type} of ${id}`);
      }
    for (const [what, times] of counts) if (times !== 1) faults.push(`${what}: ${times} times`);
    const of = (what: string) => [...counts.keys()].filter((name) => name.startsWith(what)).length;
    const complete = of('completed ');
    if (complete < claims) faults.push(`${claims} claims: ${complete} complete`);
    for (const [what, each] of [
      ['executed ', 4],
      ['delivered ', 4],
      ['phase ', 3],
    ] as const)
      if (of(what) !== complete * each) faults.push(`${what.trim()}: ${of(what)} of ${complete * each}`);
    const replayed = await replay(coxswain.store, entities, coxswain.project);
    for (const difference of await compareWithLive(coxswain.store, entities, coxswain.project, replayed))
      faults.push(`replay differs: ${JSON.stringify(difference).slice(0, 200)}`);
    return { faults, complete };
  } finally {
    await coxswain.close();
  }
}

if (import.meta.main) {
  const { claims, kills, orchestrators } = readOptions({ claims: 50, kills: 100, orchestrators: 2 });
  using folder = temporaryFolder();
  const result = await killOrchestrators(folder.path, claims, kills, orchestrators);
  console.log(result.summary);
  for (const fault of result.faults.slice(0, 20)) console.log(`  ${fault}`);
  process.exitCode = result.faults.length > 0 ? 1 : 0;
}
