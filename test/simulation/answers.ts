import type { JsonObject } from '../../src/kernel/json.ts';
import { isRefusal, refusalCode } from '../../src/kernel/refusal.ts';
import type { LogEntry } from '../../src/ledger/log.ts';
import { canonical } from '../../src/ledger/replay.ts';
import { checkBoardAnswer, isAboutBoard } from './board/answers.ts';
import { checkClaimAnswer, isAboutClaims } from './claims/answers.ts';
import { insist, isCommit } from './model.ts';
import { areaNamed, filesOf, mayClash } from './model-areas.ts';
import { before, mayNotWait, type Task } from './model-tasks.ts';
import type { Call, World } from './world.ts';

const iso = (time_ms: number) => new Date(time_ms).toISOString();

/** What a caller is told is true: of the log, and of the whole time between its question and its answer. */
export function checkAnswer(world: World, call: Call, answer: JsonObject): void {
  const { model } = world;
  const rows = model.rowsOf(call.session_id, call.sequence);
  insist(rows.length > 0, 'a call without a row', call.session_id, call.sequence);
  if (isAboutClaims(call)) checkClaimAnswer(world, call, answer);
  else if (isAboutBoard(call)) checkBoardAnswer(world, call, answer);
  else if (isRefusal(answer) && answer.results === undefined)
    checkRefusal(world, call, refusalCode(answer), answer);
  else if (call.operation === 'check_locks') checkList(world, answer);
  else if (call.operation === 'list_work') checkQueue(world, answer);
  else checkSuccess(world, call, answer);
}

export function commitsOf(world: World, call: Call): readonly LogEntry[] {
  const { operation_id } = call.input;
  if (typeof operation_id === 'string') return world.model.commitsOf(call.agent_id, operation_id);
  return world.model.rowsOf(call.session_id, call.sequence).filter(isCommit);
}

function checkSuccess(world: World, call: Call, answer: JsonObject): void {
  const rows = commitsOf(world, call);
  insist(rows.length > 0, 'a success that is not in the log', call, answer);
  const text = canonical(answer);
  const row = rows.find(
    (each) => each.operation === call.operation && canonical(loggedAnswer(each)) === text,
  );
  insist(row !== undefined, 'the log says otherwise', call, answer);
  const repeated = row.session_id !== call.session_id || row.sequence !== call.sequence;
  if (repeated) world.count('repeat recognised');
  else if (call.operation.startsWith('get_work')) checkSettled(world, call, false);
}

/** The two operations about one task are the batch with one item in the log. */
function loggedAnswer(row: LogEntry): JsonObject {
  if (row.operation !== 'get_work' && row.operation !== 'submit_work') return row.result;
  const [first] = row.result.tasks as JsonObject[];
  return { success: true, ...first };
}

function checkRefusal(world: World, call: Call, code: string, answer: JsonObject): void {
  world.count(`refused: ${code}`);
  insist(code !== 'internal_error', 'a fault', answer);
  // The store was away or the answer got lost: it may have happened.
  if (code === 'database_unavailable') return;
  const rows = world.model.rowsOf(call.session_id, call.sequence);
  insist(
    rows.every((row) => row.events.length === 0),
    'refused and done all the same',
    call,
    answer,
  );
  if (code === 'operation_id_reused') {
    insist(commitsOf(world, call).length > 0, 'an id that was never used', call);
    return;
  }
  if (code === 'blocked') checkBlocked(world, call, answer);
  if (code === 'no_tasks_available') checkSettled(world, call, true);
  insist(!holdsThroughout(world, call), 'the holder was refused', call, answer);
}

function areasOf({ input }: Call): string[] {
  const { file_path, file_paths } = input;
  return ((file_paths as string[] | undefined) ?? [file_path as string]).map(areaNamed);
}

/** Another agent held some of it, or stood in line for it, at some moment of the call. */
function checkBlocked(world: World, call: Call, answer: JsonObject): void {
  const { locks } = world.model;
  insist(answer.locked_by !== call.agent_id, 'blocked by oneself', call);
  const areas = areasOf(call);
  const inTheWay = (area: string, shared: boolean) =>
    !(shared && call.input.shared === true) && areas.some((wanted) => mayClash(wanted, area));
  const held = locks.everHeld.some(
    ({ area, grant, shared, until }) =>
      grant.agent_id === answer.locked_by &&
      iso(grant.expires_at_ms) === answer.expires_at &&
      grant.expires_at_ms > call.clock_ms_min &&
      until > call.began &&
      inTheWay(area, shared),
  );
  const inLine = locks.everInLine.some(
    ({ area, agent_id, shared, alive_until_ms, until }) =>
      agent_id === answer.locked_by &&
      iso(alive_until_ms) === answer.expires_at &&
      alive_until_ms > call.clock_ms_min &&
      until > call.began &&
      inTheWay(area, shared),
  );
  insist(answer.waiting === true ? inLine : held, 'blocked by nobody', call, answer);
  if (answer.waiting === true) world.count('blocked: others wait first');
  if (answer.waited_seconds !== undefined) world.count('waited in vain');
}

/** True if the call named the grant it had, and had it from the question to the answer. */
function holdsThroughout(world: World, call: Call): boolean {
  const { file_path, task_id, fencing_token, shared } = call.input;
  if (fencing_token === undefined) return false;
  const { locks, tasks } = world.model;
  const held = typeof file_path === 'string' ? locks.held(areaNamed(file_path), call.agent_id) : undefined;
  const task = tasks.all.get(task_id as string);
  // A reader who wants to write asks for something new.
  if (held?.shared === true && shared !== true && call.operation === 'acquire_lock') return false;
  const grant = held?.grant ?? task?.grant;
  const changed = held?.since ?? task?.changed ?? 0;
  return (
    grant !== undefined &&
    changed <= call.began &&
    grant.agent_id === call.agent_id &&
    grant.token === fencing_token &&
    grant.expires_at_ms > call.clock_ms_max
  );
}

/**
 * A caller that asks for work first does what has become due, and goes away with nothing only if there was nothing: no task
 * that was ready, due or released by its parents during the whole call.
 */
function checkSettled(world: World, call: Call, emptyHanded: boolean): void {
  const { tasks, locks } = world.model;
  const types = call.input.task_types as string[] | undefined;
  const free = (task: Task) =>
    (types === undefined || types.includes(task.type)) &&
    task.files.every((path) => {
      const others = locks.everHeld.filter(
        ({ area, grant, until }) =>
          until > call.began && grant.agent_id !== call.agent_id && filesOf(area).has(path),
      );
      return others.every(({ grant }) => grant.expires_at_ms <= call.clock_ms_min);
    });
  for (const task of tasks.all.values()) {
    if (task.changed > call.began) continue;
    const { status, grant } = task;
    const expired = status === 'claimed' && grant !== undefined && grant.expires_at_ms <= call.clock_ms_min;
    insist(!expired, 'a dead agent’s task was left lying', task.id, call);
    insist(
      status !== 'delayed' || task.not_before_ms > call.clock_ms_min,
      'a due task was left lying',
      task.id,
      call,
    );
    if (!emptyHanded) continue;
    insist(status !== 'ready' || !free(task), 'nothing to do, it said', task.id, call);
    const parents = task.depends_on.map((id) => tasks.of(id));
    if (parents.some((parent) => parent.changed > call.began)) continue;
    insist(status !== 'waiting' || !mayNotWait(task, parents), 'a child was left waiting', task.id, call);
  }
}

/** Reading has no place to stand still, so the list is exactly what the log says now. */
function checkList(world: World, answer: JsonObject): void {
  const said = (answer.locks as JsonObject[]).map(
    ({ file_path, locked_by, shared, fencing_token, expires_at, reason }) => [
      file_path,
      locked_by,
      shared === true,
      fencing_token,
      expires_at,
      reason,
    ],
  );
  const { holdings, line } = world.model.locks;
  const true_ = holdings
    .filter(({ grant }) => grant.expires_at_ms > world.clock_ms)
    .map(({ area, grant, shared, reason }) => [
      area,
      grant.agent_id,
      shared,
      grant.token,
      iso(grant.expires_at_ms),
      reason,
    ])
    .sort((a, b) => (`${a[0]}\0${a[3]}` < `${b[0]}\0${b[3]}` ? -1 : 1));
  insist(canonical(said) === canonical(true_), 'a list of other locks', said, true_);
  const waiting = ((answer.waiting as JsonObject[] | undefined) ?? []).map(
    ({ file_path, agent_id }) => `${file_path} ${agent_id}`,
  );
  const inLine = line.filter((each) => each.alive_until_ms > world.clock_ms);
  const standing = inLine.map(({ area, agent_id }) => `${area} ${agent_id}`);
  insist(
    canonical(waiting.sort()) === canonical(standing.sort()),
    'a list of others in line',
    waiting,
    standing,
  );
}

function checkQueue(world: World, answer: JsonObject): void {
  const said = (answer.pending as JsonObject[]).map(({ task_id }) => task_id);
  const ready = [...world.model.tasks.all.values()].filter(({ status }) => status === 'ready');
  const true_ = ready.sort((a, b) => (before(a, b) ? -1 : 1)).map(({ id }) => id);
  insist(canonical(said) === canonical(true_), 'a queue in another order', said, true_);
}
