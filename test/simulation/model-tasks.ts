import type { JsonObject } from '../../src/kernel/json.ts';
import type { EventBody } from '../../src/ledger/entity.ts';
import type { LogEntry } from '../../src/ledger/log.ts';
import { type Circumstances, type Grant, grantOf, insist } from './model.ts';
import type { LockModel } from './model-locks.ts';

export interface Task {
  readonly id: string;
  readonly type: string;
  readonly files: readonly string[];
  readonly depends_on: readonly string[];
  readonly max_attempts: number;
  /** Position of its submission. */
  readonly born: number;
  readonly policy: 'block' | 'skip' | 'run';
  status:
    | 'waiting'
    | 'delayed'
    | 'ready'
    | 'claimed'
    | 'completed'
    | 'failed'
    | 'cancelled'
    | 'dead'
    | 'skipped';
  priority: number;
  not_before_ms: number;
  attempts: number;
  grant: Grant | undefined;
  token_max: number;
  /** Dependencies that failed and hold it back. */
  readonly told: Set<string>;
  readonly met: Set<string>;
  /** Dependencies that failed and count as met all the same. */
  readonly waived: Set<string>;
  /** Position of the row that last changed what matters to handing it out. */
  changed: number;
}

const UNSUCCESSFUL = ['failed', 'cancelled', 'dead', 'skipped'];

export class TaskModel {
  readonly all = new Map<string, Task>();
  readonly #locks: LockModel;
  #handedOut: Task[] = [];

  constructor(locks: LockModel) {
    this.#locks = locks;
  }

  of(id: string): Task {
    const task = this.all.get(id);
    insist(task !== undefined, 'an event of a task that was never submitted', id);
    return task;
  }

  begin(row: LogEntry, _circumstances: Circumstances): void {
    this.#handedOut = [];
    if (row.operation === 'get_work' || row.operation === 'get_work_batch') {
      const ids = row.events.map((event) => event.id);
      insist(new Set(ids).size === ids.length, 'one task twice in one commit', row.position, ids);
    }
  }

  apply(event: EventBody, row: LogEntry, circumstances: Circumstances): void {
    if (event.type === 'task_submitted') {
      this.#submitted(event, row);
      return;
    }
    const task = this.of(event.id);
    if (!this.#waiting(event, task, row)) {
      if (event.type === 'task_claimed') this.#claimed(event, task, row, circumstances);
      else if (!this.#timed(event, task, row)) this.#held(event, task, row, circumstances);
    }
    if (event.type !== 'task_depended_on') task.changed = row.position;
  }

  #submitted(event: EventBody, row: LogEntry): void {
    insist(!this.all.has(event.id), 'submitted twice', event.id, row.position);
    const { task_type, files, depends_on, max_attempts, priority, not_before_ms } = event.data;
    const { on_dependency_failure } = event.data;
    const parents = depends_on as string[];
    // A batch may name a child before its parent, so the parents are looked at when the row is complete.
    this.all.set(event.id, {
      id: event.id,
      type: task_type as string,
      files: files as string[],
      depends_on: parents,
      max_attempts: max_attempts as number,
      born: row.position,
      policy: (on_dependency_failure as Task['policy'] | undefined) ?? 'block',
      status: 'waiting',
      priority: priority as number,
      not_before_ms: (not_before_ms as number | undefined) ?? 0,
      attempts: 0,
      grant: undefined,
      token_max: 0,
      told: new Set(),
      met: new Set(),
      waived: new Set(),
      changed: row.position,
    });
  }

  /** Waiting for others: who waits, who is told what. */
  #waiting(event: EventBody, task: Task, row: LogEntry): boolean {
    const about = event.data.task_id as string;
    switch (event.type) {
      case 'task_depended_on':
        insist(task.status !== 'completed', 'a dependency on what is done', task.id, row.position);
        return true;
      case 'dependency_met':
        this.#waitsFor(task, about, row);
        insist(this.of(about).status === 'completed', 'met by what is not completed', about, row.position);
        task.told.delete(about);
        task.met.add(about);
        if (task.status === 'waiting' || task.told.size === 0) this.#goOn(task, row);
        return true;
      case 'dependency_failed':
      case 'task_skipped':
        this.#waitsFor(task, about, row);
        this.#failed(event, task, about, row);
        return true;
      case 'dependents_released':
        insist(isEnded(task), 'passes on an end that is none', task.id, row.position);
        for (const child of this.#waitingFor(task.id))
          insist(child.told.has(task.id), 'a child was forgotten', child.id, task.id, row.position);
        return true;
      default:
        return false;
    }
  }

  #waitsFor(task: Task, about: string, row: LogEntry): void {
    insist(
      (task.status === 'waiting' || task.status === 'skipped') &&
        task.depends_on.includes(about) &&
        !task.met.has(about) &&
        !task.waived.has(about),
      'nobody waited',
      task.id,
      row.position,
    );
  }

  /** Told once of each failure, and what it makes of it is its own policy. */
  #failed(event: EventBody, task: Task, about: string, row: LogEntry): void {
    const { status } = this.of(about);
    insist(UNSUCCESSFUL.includes(status), 'told a failure that is none', about, row.position);
    insist(!task.told.has(about), 'told twice', task.id, about, row.position);
    const skips = task.policy === 'skip' && task.status === 'waiting';
    insist(skips === (event.type === 'task_skipped'), 'against its policy', task.id, row.position);
    if (task.policy === 'run') {
      task.waived.add(about);
      this.#goOn(task, row);
      return;
    }
    task.told.add(about);
    if (!skips) return;
    task.status = 'skipped';
    const said = event.data.error_message as string;
    insist(said.includes(about) && said.includes(status), 'skipped without a reason', said, row.position);
  }

  #goOn(task: Task, row: LogEntry): void {
    if (task.met.size + task.waived.size < task.depends_on.length) task.status = 'waiting';
    else if (task.not_before_ms > row.at_ms) task.status = 'delayed';
    else {
      task.status = 'ready';
      // A time that has come once is over, also when the clock is set back.
      task.not_before_ms = 0;
    }
  }

  #waitingFor(parent: string): Task[] {
    return [...this.all.values()].filter(
      ({ status, depends_on, met, waived }) =>
        (status === 'waiting' || status === 'skipped') &&
        depends_on.includes(parent) &&
        !met.has(parent) &&
        !waived.has(parent),
    );
  }

  #claimed(event: EventBody, task: Task, row: LogEntry, { clock_ms_max }: Circumstances): void {
    insist(
      task.status === 'ready',
      'handed out although it was not ready',
      task.id,
      task.status,
      row.position,
    );
    insist(task.not_before_ms <= clock_ms_max, 'handed out before its time', task.id, row.position);
    for (const parent of task.depends_on)
      if (!task.waived.has(parent))
        insist(this.of(parent).status === 'completed', 'handed out before', parent, row.position);
    const answer = (row.result.tasks as JsonObject[]).find((each) => each.task_id === task.id);
    const said = [...((answer?.failed_dependencies ?? []) as string[])].sort();
    insist(
      JSON.stringify(said) === JSON.stringify([...task.waived].sort()),
      'not told what failed',
      task.id,
      row.position,
    );
    for (const path of task.files) {
      const holders = this.#locks.holders(path, row.at_ms);
      insist(
        holders.every(({ grant }) => grant.agent_id === row.agent_id),
        'handed out with a locked file',
        path,
        row.position,
      );
    }
    const grant = grantOf(event.data);
    insist(grant.token > task.token_max, 'a fencing token that did not grow', task.id, row.position);
    insist(
      grant.agent_id === row.agent_id && grant.session_id === row.session_id,
      'granted to another',
      row.position,
    );
    const lease_ms = (row.parameters.lease_minutes as number) * 60_000;
    insist(grant.expires_at_ms === row.at_ms + lease_ms, 'granted for another time', row.position);
    this.#handedOut.push({ ...task });
    task.status = 'claimed';
    task.attempts += 1;
    insist(task.attempts <= task.max_attempts, 'one attempt too many', task.id, row.position);
    this.#grant(task, grant);
  }

  #grant(task: Task, grant: Grant): void {
    task.grant = grant;
    task.token_max = grant.token;
  }

  /** What time alone brings about. */
  #timed(event: EventBody, task: Task, row: LogEntry): boolean {
    switch (event.type) {
      case 'task_promoted':
        insist(
          task.status === 'delayed' && task.not_before_ms <= row.at_ms,
          'promoted early',
          task.id,
          row.position,
        );
        task.status = 'ready';
        // Over for good, as in `#goOn`: a task that is retried after the clock was set back does not wait for it again.
        task.not_before_ms = 0;
        return true;
      case 'task_lease_expired':
      case 'task_dead_lettered': {
        insist(
          task.status === 'claimed' && task.grant !== undefined,
          'nobody held it',
          task.id,
          row.position,
        );
        insist(task.grant.expires_at_ms <= row.at_ms, 'expired early', task.id, row.position);
        const last = task.attempts >= task.max_attempts;
        insist(
          last === (event.type === 'task_dead_lettered'),
          'given up at the wrong attempt',
          task.id,
          row.position,
        );
        task.status = last ? 'dead' : 'delayed';
        task.grant = undefined;
        if (last) return true;
        task.not_before_ms = event.data.retry_at_ms as number;
        insist(task.not_before_ms > row.at_ms, 'no pause before the next attempt', task.id, row.position);
        return true;
      }
      default:
        return false;
    }
  }

  #held(event: EventBody, task: Task, row: LogEntry, circumstances: Circumstances): void {
    switch (event.type) {
      case 'task_renewed': {
        const before = this.#mine(task, row, circumstances);
        const grant = grantOf(event.data);
        insist(
          (grant.session_id === before.session_id) === (grant.token === before.token),
          'whose grant?',
          row.position,
        );
        insist(grant.token >= before.token, 'a fencing token that fell', row.position);
        this.#grant(task, grant);
        break;
      }
      case 'task_completed':
      case 'task_failed': {
        const grant = this.#mine(task, row, circumstances);
        insist(event.data.token === grant.token, 'ended another attempt', task.id, row.position);
        task.status = event.type === 'task_completed' ? 'completed' : 'failed';
        task.grant = undefined;
        break;
      }
      case 'task_cancelled':
        insist(!isEnded(task), 'ended twice', task.id, row.position);
        task.status = 'cancelled';
        task.grant = undefined;
        break;
      case 'task_reprioritised':
        insist(!isEnded(task), 'reprioritised after its end', task.id, row.position);
        task.priority = event.data.priority as number;
        break;
      case 'task_retried':
        insist(
          ['failed', 'dead', 'skipped'].includes(task.status) ||
            (task.status === 'waiting' && task.told.size > 0),
          'retried',
          task.id,
          task.status,
          row.position,
        );
        for (const parent of task.told) task.waived.add(parent);
        task.told.clear();
        task.attempts = 0;
        this.#goOn(task, row);
        break;
      default:
        insist(false, 'an event nobody knows', event.type);
    }
  }

  #mine(task: Task, row: LogEntry, { clock_ms, meant }: Circumstances): Grant {
    const { grant } = task;
    insist(
      task.status === 'claimed' && grant !== undefined,
      'not claimed',
      task.id,
      task.status,
      row.position,
    );
    insist(grant.agent_id === row.agent_id, 'claimed by another', task.id, row.position);
    insist(grant.expires_at_ms > clock_ms, 'ended or renewed after its time', task.id, row.position);
    const token = meant(`task/${task.id}`) ?? grant.token;
    insist(token === grant.token, 'an attempt that is over', task.id, row.position, token);
    return grant;
  }

  end(row: LogEntry, { read_from }: Circumstances): void {
    for (const event of row.events) if (event.type === 'task_submitted') this.#place(this.of(event.id), row);
    if (this.#handedOut.length > 0) this.#inOrder(row, read_from);
  }

  #place(task: Task, row: LogEntry): void {
    for (const parent of task.depends_on) {
      insist(this.all.has(parent), 'depends on nothing', parent, row.position);
      const { status, born } = this.of(parent);
      if (status === 'completed') task.met.add(parent);
      // One of the same batch may have been skipped at once; it passes that on like any other end.
      else if (UNSUCCESSFUL.includes(status) && born !== row.position)
        insist(task.told.has(parent) || task.waived.has(parent), 'not told at once', task.id, row.position);
    }
    if (task.policy === 'block') insist(task.told.size === 0, 'depends on what has failed', task.id);
    if (task.status !== 'skipped') this.#goOn(task, row);
    const answers = row.result.tasks as JsonObject[];
    const answer = answers.find((each) => each.task_id === task.id);
    const said = { waiting: 'blocked', ready: 'pending' }[task.status as string] ?? task.status;
    insist(answer?.status === said, 'the answer says otherwise', answer, task.status, row.position);
  }

  /** What was ready from the moment the caller began to look until the commit, and is more urgent, comes first. */
  #inOrder(row: LogEntry, read_from: number): void {
    const count = (row.parameters.count as number | undefined) ?? 1;
    insist(this.#handedOut.length <= count, 'more than was asked for', row.position);
    const types = row.parameters.task_types as string[] | undefined;
    for (const other of this.all.values()) {
      if (other.status !== 'ready' || other.changed > read_from) continue;
      if (!this.takeable(other, types, row.agent_id, row.at_ms)) continue;
      insist(this.#handedOut.length === count, 'left something behind', other.id, row.position);
      for (const task of this.#handedOut)
        insist(before(task, other), 'handed out too early', task.id, 'before', other.id, row.position);
    }
    for (const task of this.#handedOut)
      insist(types === undefined || types.includes(task.type), 'of another type', task.id, row.position);
  }

  takeable(task: Task, types: readonly string[] | undefined, agent_id: string, at_ms: number): boolean {
    if (types !== undefined && !types.includes(task.type)) return false;
    return task.files.every((path) =>
      this.#locks.holders(path, at_ms).every(({ grant }) => grant.agent_id === agent_id),
    );
  }
}

export function isEnded(task: Task): boolean {
  return task.status === 'completed' || UNSUCCESSFUL.includes(task.status);
}

/** Whether its parents, as they are, leave it no reason to wait. */
export function mayNotWait(task: Task, parents: readonly Task[]): boolean {
  const done = (parent: Task) => parent.status === 'completed' || task.waived.has(parent.id);
  if (
    task.policy === 'skip' &&
    parents.some((parent) => UNSUCCESSFUL.includes(parent.status) && !done(parent))
  )
    return true;
  return parents.every((parent) => done(parent) || (task.policy === 'run' && isEnded(parent)));
}

export function before(a: Task, b: Task): boolean {
  if (a.priority !== b.priority) return a.priority < b.priority;
  return a.born === b.born ? a.id < b.id : a.born < b.born;
}
