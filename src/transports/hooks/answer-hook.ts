import { quickClock } from '../../kernel/clock.ts';
import { oneLine } from '../shared/quoted.ts';
import { answerText } from './hook-answers.ts';
import {
  type HookCall,
  type HookEvent,
  type HookVerdict,
  NOTHING,
  type Order,
  readCall,
  runsCommands,
} from './hook-call.ts';
import type { HookSurroundings } from './hook-ledger.ts';
import type { Known } from './hook-log.ts';
import type { Foreseen } from './touched.ts';

/**
 * The client waits for us. Codex allows three seconds for the end of a session; the other events have more
 * time.
 */
const TIME_MS_MAX: Record<HookEvent, number> = {
  'session-start': 4500,
  'before-tool': 4500,
  'after-tool': 4500,
  'turn-end': 4500,
  'session-end': 2500,
};
const CLOSE_MS_MAX = 400;

/** Tools that only read: we don't even work out what they would write. */
const LOOKS: ReadonlySet<string> = new Set([
  ...['Read', 'Glob', 'Grep', 'LS', 'WebFetch', 'WebSearch', 'TodoWrite', 'Task'],
  ...['read_file', 'read_many_files', 'list_directory', 'glob', 'grep_search', 'search_file_content'],
  ...['google_web_search', 'web_fetch', 'view_image', 'update_plan'],
]);
const OWN_TOOLS = ['mcp__coxswain_', 'mcp_coxswain_'];

function onlyLooks(tool: string): boolean {
  return tool === '' || LOOKS.has(tool) || OWN_TOOLS.some((own) => tool.startsWith(own));
}

export interface HookInput extends HookSurroundings {
  /** What the client wrote to stdin. */
  read(): Promise<string>;
}

export interface HookResult {
  /** For stdout. Whatever went wrong, the client can go on with it. */
  readonly text: string;
  /** Called after the answer is out: pending writes are finished or given up. */
  close(): Promise<void>;
}

export async function runHook(order: Order, input: HookInput): Promise<HookResult> {
  const known: Known = {};
  const deadline = timer(TIME_MS_MAX[order.event]);
  let verdict: HookVerdict;
  try {
    verdict = await Promise.race([decide(order, input, known), deadline.over]);
  } catch (error) {
    verdict = await failed(order, input, known, error);
  }
  deadline.stop();
  return { text: answerText(order, verdict, known.call?.happened), close: () => close(known) };
}

/**
 * A hook that waits for nothing is done before the first turn of the event loop. Most hooks never need the
 * timer, and creating one takes a while.
 */
function timer(time_ms: number): { over: Promise<never>; stop(): void } {
  const { promise, reject } = Promise.withResolvers<never>();
  let timeout: NodeJS.Timeout | undefined;
  const turned = setImmediate(() => {
    timeout = setTimeout(() => reject(new Error(`no answer within ${time_ms} ms`)), time_ms);
  });
  const stop = () => {
    clearImmediate(turned);
    clearTimeout(timeout);
  };
  return { over: promise, stop };
}

async function close({ ledger }: Known): Promise<void> {
  if (ledger === undefined) return;
  const limit = timer(CLOSE_MS_MAX);
  await Promise.race([ledger.store.close(), limit.over]).catch(() => {});
  limit.stop();
}

async function decide(order: Order, input: HookInput, known: Known): Promise<HookVerdict> {
  const call = readCall(await input.read(), input.cwd);
  known.call = call;
  const { event } = order;
  if (event === 'before-tool') return await check(order, input, call, known);
  const touched = event === 'after-tool' ? await touchedBy(order, call, input) : UNTOUCHED;
  const living = await import('./living.ts');
  // Git looks while the store is opened.
  const changing = event === 'after-tool' && runsCommands(call) ? living.changedDuring(call, input.env) : [];
  const ledger = await living.openHookLedger(order, call, input);
  known.ledger = ledger;
  const place = await living.placeOn(ledger);
  switch (event) {
    case 'session-start':
      return await living.sessionStart(order, place);
    case 'after-tool': {
      const changes = await changing;
      for (const { problem } of changes)
        if (problem !== undefined) living.noteFailure(order, input, known, problem, quickClock.now_ms());
      return await living.afterTool(order, call, { touched, changes }, place);
    }
    case 'turn-end':
      return await living.turnEnd(place);
    case 'session-end':
      return await living.sessionEnd(place);
  }
}

/** A tool that writes nothing is let through before anything is loaded. */
async function check(order: Order, input: HookInput, call: HookCall, known: Known): Promise<HookVerdict> {
  const touched = await touchedBy(order, call, input);
  const { writes, unknown, everywhere, danger } = touched;
  known.isDangerous = (danger?.assessment.findings.length ?? 0) > 0;
  const isHarmless = !known.isDangerous && writes.length + unknown.length + everywhere.length === 0;
  // Whether the agent may run commands at all is decided by its profile, which is in the store.
  if (isHarmless && !runsCommands(call)) return NOTHING;
  const { openHookLedger, mayRun, noteStart } = await import('./harmless.ts');
  const begins = () => {
    if (danger?.kind === 'command' && touched.readsOnly !== true) noteStart(call, input.env, danger.cwd);
  };
  try {
    const ledger = await openHookLedger(order, call, input);
    known.ledger = ledger;
    if (isHarmless && (await mayRun(ledger, danger))) {
      begins();
      return NOTHING;
    }
    const { placeOn, guard } = await import('./guarding.ts');
    const verdict = await guard(order, call, touched, await placeOn(ledger));
    if (verdict.deny === undefined) begins();
    return verdict;
  } catch (error) {
    if (!isHarmless) throw error;
    // Nothing is written, so a store that is away must not stop an agent from reading.
    const { noteFailure } = await import('./guarding.ts');
    noteFailure(order, input, known, error, quickClock.now_ms());
    return NOTHING;
  }
}

const UNTOUCHED: Foreseen = { writes: [], unknown: [], everywhere: [] };

async function touchedBy({ client }: Order, call: HookCall, { env }: HookSurroundings): Promise<Foreseen> {
  const { tool, input, cwd } = call;
  if (onlyLooks(tool)) return UNTOUCHED;
  const { touchedBy: workOut } = await import('./touched.ts');
  return await workOut(client, tool, input, cwd, { home: env.HOME });
}

/** HOOK-2: only a check may stop an agent: of danger, which says so, or of locks under `require`. */
async function failed(order: Order, input: HookInput, known: Known, error: unknown): Promise<HookVerdict> {
  const isCheck = order.event === 'before-tool';
  try {
    const { noteFailure } = isCheck ? await import('./guarding.ts') : await import('./living.ts');
    noteFailure(order, input, known, error, quickClock.now_ms());
  } catch {
    // Then it is missing from the log; that must not stop the agent.
  }
  if (!isCheck) return NOTHING;
  const said = error instanceof Error ? error.message : String(error);
  // A call that could not be read may contain anything: a command of 65 MB must not be a way past the
  // guardrails.
  const isUnread = known.call === undefined;
  if ((isUnread || known.isDangerous === true) && input.env.COX_GUARD_ON_FAILURE !== 'allow')
    return {
      deny: `Coxswain could not decide about this, and ${isUnread ? 'could not read what it is' : 'it looks dangerous'} (${oneLine(said, 300)}). Try again in a moment, or do it another way.`,
    };
  const problem = `Coxswain could not check the locks (${oneLine(said, 300)})`;
  if (order.locks === 'require')
    return { deny: `${problem}, and edits without a check are not allowed here. Try again in a moment.` };
  const warning = `${problem}: this goes ahead unguarded.`;
  return { context: warning, notice: warning };
}
