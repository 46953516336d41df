import { statusLines } from '../../../features/overview/cli/index.ts';
import { lookAround } from '../../../features/overview/index.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { compareWithLive, replay } from '../../../ledger/replay.ts';
import { refusalOf } from '../../../runtime/answer.ts';
import { entities } from '../../../runtime/entities.ts';
import { type Terminal, viewOf } from '../output/terminal.ts';
import { type CommonOptions, conclude, type Result } from '../program/common.ts';
import { SIGNALS, untilStopped } from '../program/signals.ts';
import { Story } from './demo-story.ts';
import { type Pace, Stage, Stopped } from './stage.ts';

export interface DemoOptions extends CommonOptions {
  readonly fast?: boolean;
  readonly keep?: boolean;
}

const PACES: Readonly<Record<'normal' | 'fast', Pace>> = {
  normal: { line_ms: 650, heartbeat_ms: 500, stale_ms: 3000 },
  fast: { line_ms: 0, heartbeat_ms: 300, stale_ms: 2000 },
};

const INTERRUPTED = 130;

/** Runs in a temporary folder of its own; neither the user's store nor the repository is touched. */
export async function demo(options: DemoOptions, terminal: Terminal, result: Result): Promise<void> {
  const over = new AbortController();
  // A second Ctrl-C would normally end us at once; it must not interrupt the clean-up.
  const ignore = () => {};
  for (const signal of SIGNALS) process.on(signal, ignore);
  const stopped = untilStopped();
  void stopped.signal.then(() => over.abort());
  terminal.gone?.addEventListener('abort', () => over.abort());
  const silent = options.json === true;
  const write = silent ? async () => {} : (text: string) => terminal.out(text);
  const pace = PACES[options.fast === true ? 'fast' : 'normal'];
  const stage = new Stage(pace, options.keep === true, terminal.env, over.signal, write);
  let answer: JsonObject | undefined;
  try {
    answer = await play(stage, options, terminal, write);
  } catch (error) {
    if (error instanceof Stopped) result.code = INTERRUPTED;
    else answer = refusalOf(error);
  } finally {
    await stage.clear();
    stopped.dispose();
    for (const signal of SIGNALS) process.removeListener(signal, ignore);
  }
  if (answer !== undefined && (silent || answer.success === false))
    await conclude(terminal, answer, options, result);
}

async function play(
  stage: Stage,
  options: DemoOptions,
  terminal: Terminal,
  write: (text: string) => Promise<void>,
): Promise<JsonObject> {
  const paintView = viewOf(terminal, { color: options.color, now_ms: 0 });
  const coxswain = await stage.coxswain();
  await stage.say(`A scratch repository: ${stage.folder}`);
  await new Story(stage, paintView).play();
  const { seen, now_ms } = await lookAround(coxswain);
  const view = { ...paintView, now_ms };
  await stage.say(`\n${view.paint('This is what `cox status` shows now:', 'bold')}\n`);
  await write(`${statusLines(seen, view).join('\n')}\n`);
  const { store, project } = coxswain;
  const replayed = await replay(store, entities, project);
  const differences = await compareWithLive(store, entities, project, replayed);
  const equal = differences.length === 0;
  const counts = `${replayed.entries} rows, ${replayed.events} events, ${replayed.state.size} entities`;
  await stage.say(
    `\nState rebuilt from the log: ${view.paint(equal ? 'equal' : 'NOT equal', equal ? 'green' : 'red')} (${counts}).`,
  );
  const next = options.keep === true ? `Kept: ${stage.folder}` : 'All of it is removed again.';
  await stage.say(`${next} Yours begins with: cox lock acquire, cox work submit, cox mcp, cox --help`);
  const needs_you = (seen.needs_you as JsonObject[]).length;
  return { success: equal, equal, rows: replayed.entries, events: replayed.events, needs_you };
}
