import type { Sweep } from '../../command-analysis/shell/shell-findings.ts';
import type { Standing } from '../../features/trust/index.ts';
import { type Refusal, refusalCode } from '../../kernel/refusal.ts';
import type { LockPolicy } from '../shared/enforcement-policy.ts';
import { heldByOthers, inTheWay } from '../shared/held-by-others.ts';
import { heldText } from './held-text.ts';
import { type HookCall, type HookVerdict, NOTHING, type Order } from './hook-call.ts';
import { FILES_MAX, type Looked, locksOn, lookAt, notHeld, release, take } from './hook-locks.ts';
import type { HookPlace } from './hook-place.ts';
import { countFiles, isAboutProfile, locksFirst, standingFor } from './permitted.ts';
import { type Foreseen, isWorthJudging } from './touched.ts';
import { lockable } from './written-areas.ts';

/**
 * Before a tool runs: does the profile allow it, does another agent hold what it would write, and is it
 * dangerous? From then on the agent holds the files it names. An approval is used up last, when nothing else
 * can stop the call any more.
 */
export async function guard(
  order: Order,
  call: HookCall,
  foreseen: Foreseen,
  place: HookPlace,
): Promise<HookVerdict> {
  const writes = foreseen.writes.length + foreseen.unknown.length + foreseen.everywhere.length > 0;
  const looked = await lookAt(place, lockable(foreseen.writes, place.coxswain.workspace, call.cwd));
  const asked = { loaded: looked.loaded, writes };
  const { standing, refusal } = standingFor(place, call, asked, foreseen.danger?.permissions ?? []);
  // This is about permissions, not locks: no lock policy turns it into a mere warning.
  if (refusal !== undefined) return { deny: refusal };
  // What is dangerous is judged first: a person who permits exactly this command permits what it writes.
  const isDangerous = (foreseen.danger?.assessment.findings.length ?? 0) > 0;
  if (order.locks === 'require' && foreseen.unknown.length > 0 && !isDangerous) return refuseUnread(foreseen);
  const own = writes ? await makeOwn(order, call, { ...foreseen, looked }, standing, place) : { fresh: [] };
  if (own.verdict?.deny !== undefined) return own.verdict;
  return together(own.verdict, await judgedOrGivenBack(order, foreseen, place, own.fresh)) ?? NOTHING;
}

/** Where locks are required, a write that can't be read is one that no lock was asked for. */
function refuseUnread({ unknown }: Foreseen): HookVerdict {
  const shown = unknown.slice(0, 3).join('; ');
  return {
    deny: `Coxswain could not tell which files this writes (${shown}), and locks are required here. Write them with an edit tool, or by a command that names them; hold their locks first (acquire_lock).`,
  };
}

interface Own {
  /** What the agent did not hold before; empty if the call is denied. */
  readonly fresh: readonly string[];
  /** A denial, or a warning: then the call is still to be judged. */
  readonly verdict?: HookVerdict | undefined;
}

/** Checks that no other agent holds what the call would write, and locks it for this agent. */
async function makeOwn(
  order: Order,
  call: HookCall,
  { everywhere, looked }: Foreseen & { readonly looked: Looked },
  standing: Standing | undefined,
  place: HookPlace,
): Promise<Own> {
  // An agent that may write only under a lock does not get away with a warning either.
  const policy = order.locks === 'warn' && locksFirst(standing) ? 'auto' : order.locks;
  let failure: unknown;
  const wiped = await swept(everywhere, place, call.cwd).catch((error: unknown) => {
    failure = error;
    return undefined;
  });
  if (wiped !== undefined && policy !== 'warn') return { fresh: [], verdict: objection(policy, wiped) };
  const taken = await taking(policy, looked, place);
  const problems = [wiped, taken.problem].filter((problem) => problem !== undefined);
  const verdict = problems.length === 0 ? undefined : objection(policy, problems.join('\n'));
  if (verdict?.deny !== undefined) return { fresh: [], verdict };
  // Only now: if looking at the tree fails, the locks on what the call names must still have been checked.
  if (failure !== undefined) {
    await release(place, taken.fresh);
    throw failure;
  }
  const over = await countFiles(place, standing, looked.names);
  if (over === undefined) return { fresh: taken.fresh, verdict };
  await release(place, taken.fresh);
  return { fresh: [], verdict: { deny: over } };
}

/** What git commands for a whole work tree would do to files that other agents hold. */
async function swept(sweeps: readonly Sweep[], place: HookPlace, cwd: string): Promise<string | undefined> {
  if (sweeps.length === 0) return undefined;
  const { endangered } = await import('../shared/whole-tree.ts');
  const found = await endangered(sweeps, { ...place, cwd });
  return found && `${found.why}\n${heldText(found.held, place.coxswain.clock.now_ms())}`;
}

/** Locks what the agent does not hold yet, or says what is in the way. */
async function taking(
  policy: LockPolicy,
  looked: Looked,
  place: HookPlace,
): Promise<{ readonly fresh: readonly string[]; readonly problem?: string | undefined }> {
  const { names } = looked;
  if (names.length > FILES_MAX)
    return {
      fresh: [],
      problem: `It would change ${names.length} files. Lock their folder first (acquire_lock).`,
    };
  const missing = names.length === 0 ? [] : await notHeld(place, looked, policy !== 'require');
  if (missing.length === 0) return { fresh: [] };
  const taken = policy === 'require' ? await unheld(place, missing) : await takeFor(place, missing);
  return typeof taken === 'string' ? { fresh: [], problem: taken } : { fresh: taken };
}

/** A call that is denied, or could not be judged, leaves no lock behind. */
async function judgedOrGivenBack(
  order: Order,
  foreseen: Foreseen,
  place: HookPlace,
  fresh: readonly string[],
): Promise<HookVerdict | undefined> {
  let verdict: HookVerdict | undefined;
  try {
    verdict = await judged(order, foreseen, place);
  } catch (error) {
    await release(place, fresh);
    throw error;
  }
  if (verdict?.deny !== undefined) await release(place, fresh);
  return verdict;
}

/** A warning about locks is no answer to what is dangerous, nor the other way round. */
function together(warned: HookVerdict | undefined, judged: HookVerdict | undefined): HookVerdict | undefined {
  if (warned === undefined || judged?.deny !== undefined) return judged;
  if (judged === undefined) return warned;
  const both = (one: string | undefined, other: string | undefined): string | undefined =>
    one === undefined || other === undefined ? (one ?? other) : `${one}\n${other}`;
  if (judged.ask !== undefined) return { ask: both(judged.ask, warned.notice) };
  return { context: both(warned.context, judged.context), notice: both(warned.notice, judged.notice) };
}

/** A check of danger that fails or takes too long denies: unlike a lock, what it would have found can't be got back. */
async function judged(
  order: Order,
  { danger }: Foreseen,
  place: HookPlace,
): Promise<HookVerdict | undefined> {
  const { coxswain, env } = place;
  if (danger === undefined || !isWorthJudging(danger, coxswain.workspace.root, env)) return undefined;
  const { judge } = await import('./judging.ts');
  return await judge(order, danger, place);
}

function objection(policy: LockPolicy, problem: string): HookVerdict {
  if (policy !== 'warn') return { deny: `Coxswain: ${problem}` };
  return { context: `Coxswain warns: ${problem}`, notice: `Coxswain: ${problem}` };
}

/** What was locked for the agent, or why it may not have them all; a check that could not be made is thrown. */
async function takeFor(place: HookPlace, names: readonly string[]): Promise<readonly string[] | string> {
  const taken = await take(place, names);
  if ('fresh' in taken) return taken.fresh;
  const { refusal } = taken;
  if (refusalCode(refusal) === 'blocked') return heldText(inTheWay(refusal), place.coxswain.clock.now_ms());
  if (isAboutProfile(refusal) || REFUSED.has(refusalCode(refusal)))
    return `${refusal.message} ${refusal.remedy}`;
  throw new Unchecked(refusal);
}

const REFUSED = new Set(['not_owner', 'would_deadlock', 'too_large']);

/** The lock check itself failed; the policy decides what that means. */
class Unchecked extends Error {
  constructor({ message }: Refusal) {
    super(message);
    this.name = 'Unchecked';
  }
}

/** Under `require` nothing is locked for the agent: it has to ask first. */
async function unheld(place: HookPlace, names: readonly string[]): Promise<string> {
  const held = heldByOthers({ locks: await locksOn(place, names) }, place.actor.agent_id);
  if (held.length > 0) return heldText(held, place.coxswain.clock.now_ms());
  const files = names.slice(0, 5).join(', ');
  return `you do not hold ${files}${names.length > 5 ? ` and ${names.length - 5} more` : ''}. Lock it first (acquire_lock of the MCP server coxswain), then try again.`;
}
