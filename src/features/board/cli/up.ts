import { open } from '../../../index.ts';
import { type Refusal, refuse } from '../../../kernel/refusal.ts';
import { findWorkspace, type Workspace } from '../../../kernel/workspace.ts';
import { EXIT_CODES, refusalOf } from '../../../runtime/answer.ts';
import type { Coxswain } from '../../../runtime/coxswain.ts';
import { endOfLog } from '../../../transports/cli/narration/follow-log.ts';
import type { Terminal } from '../../../transports/cli/output/terminal.ts';
import {
  type CommonOptions,
  conclude,
  type Place,
  placeOf,
  type Result,
} from '../../../transports/cli/program/common.ts';
import { untilStopped } from '../../../transports/cli/program/signals.ts';
import { type Channel, Courier, readChannels } from '../../trust/notify/index.ts';
import { boardPlacesOf } from '../runner/board-places.ts';
import { BOARD_FILES, type ReadBoard, readBoardFile } from '../runner/load-board-file.ts';
import { startOrchestrator } from '../runner/orchestrator.ts';
import { untilRest } from './until-rest.ts';
import { tellChecked } from './up-check.ts';
import { tellKept, tellRest, tellStart } from './up-end.ts';
import { UpShow } from './up-show.ts';

export interface UpOptions extends CommonOptions {
  readonly config?: string;
  readonly untilIdle?: boolean;
  readonly check?: boolean;
}

const EXAMPLE = `version: "1.0"
agents:
  writer:
    role: Writer
    command: [node, agents/write.js]       # reads one JSON on stdin, prints one
    bidding_strategy: { type: exclusive, target_types: [GoalDefined] }
  reviewer:
    role: Reviewer
    command: [node, agents/review.js]
    bidding_strategy: { type: review, target_types: [Draft] }
`;

interface Prepared extends ReadBoard {
  readonly place: Place;
  readonly workspace: Workspace;
  readonly channels: readonly Channel[];
}

/** Runs the agents of a file until a person stops it, or nothing is left to do. */
export async function up(options: UpOptions, terminal: Terminal, result: Result): Promise<void> {
  const prepared = await prepare(options, terminal);
  if (isPrepared(prepared)) {
    if (options.check === true)
      return await tellChecked(prepared.config, prepared.warnings, options, terminal, result);
    const refusal = await run(prepared, options, terminal, result);
    if (refusal !== undefined) await conclude(terminal, refusal, options, result);
    return;
  }
  await conclude(terminal, prepared, options, result);
  if (prepared.example !== undefined && options.json !== true)
    await terminal.err(`\nThe least there is to one:\n\n${EXAMPLE.replaceAll(/^(?=.)/gm, '  ')}\n`);
}

function isPrepared(found: Prepared | Refusal): found is Prepared {
  return !('success' in found);
}

/** Runs before the store is opened, so that a mistake is found before anything is started. */
async function prepare(options: UpOptions, terminal: Terminal): Promise<Prepared | Refusal> {
  const chosen = placeOf(options, terminal);
  if (!chosen.ok) return chosen.refusal;
  const workspace = findWorkspace(terminal.cwd);
  const { cwd, env } = terminal;
  const read = await readBoardFile(workspace, { config: options.config, cwd, env });
  if (read === undefined) return noFile(workspace);
  if ('success' in read) return read;
  const channels = readChannels(env, cwd);
  if (!Array.isArray(channels)) return channels;
  return { ...read, place: chosen.place, workspace, channels };
}

function noFile({ root }: Workspace): Refusal {
  const looked_for = [...BOARD_FILES];
  const message = `There is no ${looked_for.join(', no ')} in ${root}.`;
  return {
    ...refuse('board_invalid', message, { looked_for, folder: root, example: EXAMPLE }),
    remedy: 'Write a cox.yml there (docs/board-file.md describes it), or name a file with --config.',
  };
}

async function run(
  prepared: Prepared,
  options: UpOptions,
  terminal: Terminal,
  result: Result,
): Promise<Refusal | undefined> {
  const { place, workspace, channels } = prepared;
  const stopped = untilStopped();
  const over = new AbortController();
  void stopped.signal.then(() => over.abort());
  // A second request to stop means: at once.
  over.signal.addEventListener('abort', () => stopped.dispose());
  terminal.gone?.addEventListener('abort', () => over.abort());
  let coxswain: Coxswain | undefined;
  let courier: Courier | undefined;
  try {
    coxswain = await open({ ...place, workspace, sits: true, announce: () => courier?.stir() });
    courier = new Courier(coxswain, channels);
    const ended = await work(coxswain, prepared, options, terminal, over);
    if (typeof ended !== 'number') return ended;
    result.code = ended;
    return undefined;
  } catch (error) {
    return refusalOf(error);
  } finally {
    over.abort();
    await courier?.stop();
    await coxswain?.close();
  }
}

async function work(
  coxswain: Coxswain,
  { config, warnings }: Prepared,
  options: UpOptions,
  terminal: Terminal,
  over: AbortController,
): Promise<number | Refusal> {
  const places = boardPlacesOf(coxswain, config, terminal.env);
  if ('success' in places) return places;
  const after = await endOfLog(coxswain);
  const { now_ms: since_ms } = await coxswain.store.find(coxswain.project, {});
  const show = new UpShow(coxswain, options, terminal, over, after);
  const news = show.own.bind(show);
  const started = await startOrchestrator({ coxswain, config, places, news, signal: over.signal });
  if ('success' in started) return started;
  // An error that ends the run also ends the show; it is reported below.
  started.done.catch(() => over.abort());
  await tellStart(show, coxswain, config, warnings, places.runs);
  const rest = options.untilIdle === true ? untilRest(coxswain, since_ms, over) : undefined;
  try {
    await show.run();
    await show.stopping(rest !== undefined && (await rest) !== undefined);
  } finally {
    // However the run ends, nothing of it stays running.
    over.abort();
    await started.done;
  }
  await show.catchUp();
  await tellKept(show, places.runs);
  const found = await rest;
  return found === undefined ? EXIT_CODES.done : await tellRest(show, found);
}
