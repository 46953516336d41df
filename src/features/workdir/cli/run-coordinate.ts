import { isAbsolute, relative, sep } from 'node:path';
import { isoTime, systemClock } from '../../../kernel/clock.ts';
import { fingerprint } from '../../../kernel/fingerprint.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { Refusal } from '../../../kernel/refusal.ts';
import { findWorkspace } from '../../../kernel/workspace.ts';
import { HOUSEKEEPER } from '../../../ledger/log.ts';
import { invalid } from '../../../runtime/answer.ts';
import { jsonLine, type Terminal } from '../../../transports/cli/output/terminal.ts';
import { plain } from '../../../transports/cli/output/text.ts';
import {
  type CommonOptions,
  cliIdentity,
  conclude,
  placeOf,
  type Result,
} from '../../../transports/cli/program/common.ts';
import { untilStopped } from '../../../transports/cli/program/signals.ts';
import { readSeconds } from '../../../transports/shared/input-fields.ts';
import { type Channel, readChannels } from '../../trust/notify/index.ts';
import { coordinate, type PassResult } from '../folder/pass.ts';
import { findRoot, readSettings } from '../folder/root.ts';
import type { Occurrence } from '../occurrences.ts';
import type { PassMirror } from '../scheduler/mirror-pass.ts';
import { described, installedLines, linesOf, publishedLines } from '../scheduler/scheduler-words.ts';
import type { WorkdirFinding } from '../workdir-findings.ts';
import type { WorkdirSettings } from '../workdir-settings.ts';

export interface CoordinateOptions extends CommonOptions {
  readonly dryRun?: boolean;
  readonly watch?: boolean;
  readonly every?: string;
  readonly commit?: boolean;
  readonly push?: boolean;
  readonly install?: readonly string[];
  readonly package?: string;
  readonly force?: boolean;
}

const EVERY_SECONDS = '30';
const EVERY_SECONDS_MAX = 86_400;

interface Place {
  readonly root: string;
  readonly settings: WorkdirSettings;
  readonly channels: readonly Channel[];
}

export async function coordinateCommand(
  dir: string | undefined,
  options: CoordinateOptions,
  terminal: Terminal,
  result: Result,
): Promise<void> {
  const every_ms = readSeconds(options.every ?? EVERY_SECONDS, 'every', 1, EVERY_SECONDS_MAX);
  const place = typeof every_ms === 'number' ? placeFor(dir, terminal) : every_ms;
  if ('success' in place) return await conclude(terminal, place, options, result);
  if (options.install !== undefined) return await install(place, options, terminal, result);
  const commits = options.commit === true || options.push === true;
  if (commits && (options.watch === true || options.dryRun === true)) {
    const refusal = invalid('commit', 'neither --watch nor --dry-run beside it');
    return await conclude(terminal, refusal, options, result);
  }
  if (options.watch === true)
    return await keepCoordinating(dir, options, every_ms as number, terminal, result);
  if (commits) return await publish(place, options, terminal, result);
  const mirror = await mirrorFor(place, options, terminal);
  const pass = await mirroredPass(place, options, mirror);
  await show(place, pass, options, terminal, mirror);
  result.code = codeOf(pass, mirror);
}

/** Tasks are mirrored to a store if the caller names one, or with `mirror: true`. A dry run mirrors nothing. */
async function mirrorFor(
  { root, settings }: Place,
  options: CoordinateOptions,
  terminal: Terminal,
): Promise<PassMirror | undefined> {
  if (options.dryRun === true) return undefined;
  const chosen = placeOf(options, terminal);
  const isNamed = !chosen.ok || chosen.place.store !== undefined;
  if (!isNamed && !settings.mirror) return undefined;
  const who = cliIdentity(options, terminal.env);
  const { PassMirror } = await import('../scheduler/mirror-pass.ts');
  const refusal = !chosen.ok ? chosen.refusal : who.ok ? undefined : who.refusal;
  const mirror = new PassMirror({
    root,
    settings,
    actor: who.ok ? who.actor : HOUSEKEEPER,
    async open() {
      const { open } = await import('../../../index.ts');
      return await open({ ...(chosen.ok ? chosen.place : {}), cwd: standingIn(root, terminal.cwd) });
    },
  });
  if (refusal !== undefined) mirror.away = refusal;
  return mirror;
}

/**
 * In the repository of the work directory, whatever the current folder is: its store is meant, and its folder
 * names.
 */
function standingIn(root: string, cwd: string): string {
  const way = relative(findWorkspace(cwd).root, root);
  return way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way) ? root : cwd;
}

async function mirroredPass(
  place: Place,
  options: CoordinateOptions,
  mirror: PassMirror | undefined,
): Promise<PassResult> {
  try {
    await mirror?.take();
    const pass = await runPass(place, options);
    await mirror?.show(pass);
    return pass;
  } finally {
    await mirror?.close();
  }
}

async function install(
  { root }: Place,
  options: CoordinateOptions,
  terminal: Terminal,
  result: Result,
): Promise<void> {
  const chosen = placeOf(options, terminal);
  if (!chosen.ok) return await conclude(terminal, chosen.refusal, options, result);
  const { installSchedules } = await import('../scheduler/install.ts');
  const answer = installSchedules({
    store: chosen.place.store,
    project: chosen.place.project,
    kinds: options.install ?? [],
    root,
    env: terminal.env,
    commit: options.commit === true,
    push: options.push === true,
    package: options.package,
    force: options.force === true,
    dry_run: options.dryRun === true,
  });
  if (answer.success !== true || options.json === true)
    return await conclude(terminal, answer, options, result);
  await terminal.out(`${installedLines(answer).join('\n')}\n`);
}

async function publish(
  place: Place,
  options: CoordinateOptions,
  terminal: Terminal,
  result: Result,
): Promise<void> {
  const { publishPass } = await import('../scheduler/publish-pass.ts');
  const { root } = place;
  const push = options.push === true;
  const mirror = await mirrorFor(place, options, terminal);
  try {
    const run = async () => {
      await mirror?.take();
      return await runPass(place, options);
    };
    const published = await publishPass(run, { root, env: terminal.env, push });
    if ('success' in published) return await conclude(terminal, published, options, result);
    const { pass, commit, pushed, replanned } = published;
    // Only once the pass is final: a pass that is taken back must not be shown.
    await mirror?.show(pass);
    await show(place, pass, options, terminal, mirror, { commit: commit ?? null, pushed, replanned });
    result.code = codeOf(pass, mirror);
  } finally {
    await mirror?.close();
  }
}

/** Looked up before each pass, so that a change of the settings needs no restart. */
function placeFor(dir: string | undefined, { cwd, env }: Terminal): Place | Refusal {
  const root = dir === undefined ? usualRoot(cwd, env) : findRoot(dir, cwd);
  if (typeof root !== 'string') return root;
  const settings = readSettings(root);
  if ('success' in settings) return settings;
  const channels = readChannels(env, cwd);
  return 'success' in channels ? channels : { root, settings, channels };
}

/** Here, or where the task verbs would look: from the top of the repository, `COX_WORK_DIR` or a usual place. */
function usualRoot(cwd: string, env: NodeJS.ProcessEnv): string | Refusal {
  const named = env.COX_WORK_DIR || undefined;
  const here = named === undefined ? findRoot(undefined, cwd) : undefined;
  return typeof here === 'string' ? here : findRoot(named, findWorkspace(cwd).root);
}

async function runPass(
  { root, settings, channels }: Place,
  { dryRun }: CoordinateOptions,
): Promise<PassResult> {
  const escalate = async (occurrence: Occurrence) => {
    for (const channel of channels) await channel.send(noticeOf(occurrence), AbortSignal.timeout(30_000));
  };
  return await coordinate({
    root,
    settings,
    now_ms: systemClock.now_ms(),
    dry_run: dryRun,
    escalate: channels.length === 0 ? undefined : escalate,
  });
}

/** The same id however often it is sent, so that a receiver can recognise duplicates. */
function noticeOf({ type, task, agent, text, at_ms }: Occurrence): JsonObject {
  const notice_id = fingerprint(`${type}\n${task}\n${at_ms}`);
  return { notice_id, kind: `task_${type}`, title: text, task_id: task, agent_id: agent, at: isoTime(at_ms) };
}

const WAITS: readonly WorkdirFinding['kind'][] = ['error', 'stalled', 'misplaced'];

/** For cron: 1, some file needs fixing; 3, some task waits for a person; else 0. */
function codeOf({ problems, left, findings }: PassResult, mirror?: PassMirror): number {
  if (problems.length + left.length > 0 || mirror?.isWell === false) return 1;
  return findings.some(({ kind }) => WAITS.includes(kind)) ? 3 : 0;
}

async function keepCoordinating(
  dir: string | undefined,
  options: CoordinateOptions,
  every_ms: number,
  terminal: Terminal,
  result: Result,
): Promise<void> {
  const stopped = untilStopped();
  const over = new AbortController();
  void stopped.signal.then(() => over.abort());
  terminal.gone?.addEventListener('abort', () => over.abort());
  if (options.json !== true)
    await terminal.err(`cox coordinate: a pass every ${every_ms / 1000} s; stop with Ctrl-C.\n`);
  let told = '';
  try {
    while (!over.signal.aborted) {
      const place = placeFor(dir, terminal);
      if ('success' in place) await conclude(terminal, place, options, result);
      else {
        const mirror = await mirrorFor(place, options, terminal);
        const pass = await mirroredPass(place, options, mirror);
        const news = mirror?.lines().join('\n') ?? '';
        if (isNews(pass) || (news !== told && news !== ''))
          await show(place, pass, options, terminal, mirror);
        told = news;
      }
      await systemClock.sleep(every_ms, over.signal).catch(() => {});
    }
  } finally {
    stopped.dispose();
  }
  result.code = 0;
}

function isNews({ done, left, fresh, reports }: PassResult): boolean {
  return done.length + left.length + fresh.length + reports.length > 0;
}

async function show(
  { root }: Place,
  pass: PassResult,
  options: CoordinateOptions,
  terminal: Terminal,
  mirror?: PassMirror,
  published: JsonObject = {},
): Promise<void> {
  const shown = mirror === undefined ? {} : { mirror: mirror.describe() };
  const answer = { ...answerOf(root, pass, options), ...shown, ...published };
  const around = mirror === undefined ? undefined : ([mirror.takenLines(), mirror.lines()] as const);
  const lines = [...linesOf(pass, options.dryRun === true, around), ...publishedLines(published)];
  await terminal.out(options.json === true ? `${jsonLine(answer)}\n` : `${lines.map(plain).join('\n')}\n`);
}

function answerOf(
  root: string,
  { done, left, findings, problems, reports, files }: PassResult,
  { dryRun }: CoordinateOptions,
): JsonObject {
  const count = (shelf: string) => files.filter((file) => file.shelf === shelf).length;
  return {
    success: true,
    root,
    dry_run: dryRun === true,
    actions: done.map((action) => described(action)),
    not_done: left.map(({ action, reason }) => ({ ...described(action), reason })),
    findings: findings.map(({ at_ms, ...finding }) => ({
      ...finding,
      at: at_ms === undefined ? null : isoTime(at_ms),
    })),
    problems: problems.map((problem) => ({ ...problem })),
    reports: [...reports],
    tasks: {
      inbox: count('inbox'),
      assigned: count('assigned'),
      done: count('done'),
      fridge: count('fridge'),
    },
  };
}
