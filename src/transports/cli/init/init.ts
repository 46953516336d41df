import { type Refusal, refuse } from '../../../kernel/refusal.ts';
import { invalid } from '../../../runtime/answer.ts';
import { CLIENTS } from '../../shared/agent-clients.ts';
import type { Terminal } from '../output/terminal.ts';
import { conclude, type Result } from '../program/common.ts';
import { ensureBundle } from './bundle.ts';
import { ChangedMeanwhile } from './changes.ts';
import { planTrust, type TrustPlan } from './client-trust.ts';
import { nextSteps } from './next-steps.ts';
import { type Extras, type Prepared, prepareInit } from './prepare.ts';
import { report, type SetupOutcome, showChanges } from './report.ts';
import { type InitOptions, type Request, readRequest } from './setup-request.ts';
import { undoInit } from './undo.ts';
import { Unusable } from './unusable.ts';
import { writePlan } from './write.ts';

const WAITS_FOR_A_PERSON = 3;

/**
 * `cox init` plans, shows, asks and writes, in this order. Each step runs only if the one before succeeded.
 */
export async function runInit(options: InitOptions, terminal: Terminal, result: Result): Promise<void> {
  const read = readRequest(options, terminal);
  if (!read.ok) return await conclude(terminal, read.refusal, options, result);
  try {
    const run = options.undo === true ? undoInit : initialise;
    const answer = await run(read.request, options, terminal);
    if ('success' in answer) await conclude(terminal, answer, options, result);
    else result.code = await report(answer, options, terminal);
  } catch (error) {
    await conclude(terminal, refusalFor(error), options, result);
  }
}

async function initialise(
  request: Request,
  options: InitOptions,
  terminal: Terminal,
): Promise<SetupOutcome | Refusal> {
  if (request.chosen.length === 0)
    return {
      ...invalid('client', `one of ${CLIENTS.join(', ')}: none of them was found on this machine`),
      remedy: 'Install an agent client, or name one with --client; it may be installed later.',
    };
  const extras: Extras = {
    skills: options.skills === true,
    gitHooks: options.gitHooks === true,
    trust: options.trust === true,
  };
  const prepared = await prepareInit(request, extras);
  const hasChanges = prepared.changes.length > 0;
  if (options.json !== true) await showChanges(prepared.changes, options, terminal);
  const stopped = (action: SetupOutcome['action'], exit_code = 0): SetupOutcome => ({
    action,
    exit_code,
    request,
    prepared,
  });
  if (options.dryRun === true) return stopped(hasChanges ? 'planned' : 'unchanged');
  if (options.yes === true) return await carryOut(request, prepared, extras.trust);
  if (terminal.ask === undefined || options.json === true)
    return hasChanges
      ? stopped('unconfirmed', WAITS_FOR_A_PERSON)
      : await carryOut(request, prepared, extras.trust);
  // Planned before the question is asked, so that what is written is what was shown.
  const trusting = extras.trust ? undefined : await planTrust(request, prepared, extras);
  if (hasChanges && !(await agreed(prepared, terminal))) return stopped('declined', 1);
  if (trusting === undefined || !(await trusted(trusting, options, terminal)))
    return await carryOut(request, prepared, extras.trust);
  return await carryOut(request, trusting.prepared, true);
}

/** Writes what was agreed to, and looks at what is left to do. */
async function carryOut(
  request: Request,
  prepared: Prepared,
  trusted: boolean,
): Promise<SetupOutcome | Refusal> {
  const { changes, manifest, known } = prepared;
  const problem = changes.length === 0 ? undefined : ensureBundle();
  if (problem !== undefined)
    return {
      ...refuse('config_unusable', problem),
      remedy: 'Then run `cox init` again; nothing was changed.',
    };
  const isRecorded = manifest.files.length === (known?.files.length ?? 0);
  if (changes.length > 0 || !isRecorded) writePlan(prepared);
  const action = changes.length === 0 ? 'unchanged' : known === undefined ? 'written' : 'updated';
  return { action, exit_code: 0, request, prepared, steps: await nextSteps(request, trusted) };
}

async function agreed({ changes }: Prepared, terminal: Terminal): Promise<boolean> {
  const files = changes.length === 1 ? 'this file' : `these ${changes.length} files`;
  return await saysYes(`Write ${files}?`, terminal);
}

async function trusted(
  { changes, titles }: TrustPlan,
  options: InitOptions,
  terminal: Terminal,
): Promise<boolean> {
  await showChanges(changes, options, terminal);
  const where = titles.join(' and ');
  return await saysYes(
    `Also mark this repository, and exactly these hooks, as trusted in ${where}? Until then the hooks do not run there.`,
    terminal,
  );
}

async function saysYes(question: string, terminal: Terminal): Promise<boolean> {
  return /^\s*y(es)?\s*$/i.test((await terminal.ask?.(`${question} [y/N] `)) ?? '');
}

/** Faults in other programs' files are reported as refusals, not as faults of ours. */
function refusalFor(error: unknown): Refusal {
  if (error instanceof Unusable) {
    const { path, line, message, remedy } = error;
    const details = line === undefined ? { file_path: path } : { file_path: path, line };
    const refusal = refuse('config_unusable', `${message}.`, details);
    return remedy === undefined ? refusal : { ...refusal, remedy };
  }
  if (error instanceof ChangedMeanwhile)
    return refuse('config_changed', `${error.message}; nothing was written.`, { file_path: error.path });
  const { code, path = '', message } = error as NodeJS.ErrnoException;
  if (code === undefined) throw error;
  const refusal = refuse('config_unusable', `${message}.`, path === '' ? {} : { file_path: path });
  return { ...refusal, remedy: 'Make the file and its folder yours and writable; nothing was changed.' };
}
