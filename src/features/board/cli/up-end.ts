import { readdirSync } from 'node:fs';
import { shownStore } from '../../../runtime/about.ts';
import { EXIT_CODES } from '../../../runtime/answer.ts';
import type { Coxswain } from '../../../runtime/coxswain.ts';
import type { FileProblem } from '../../../storage/file-problem.ts';
import { counted, plain } from '../../../transports/cli/output/text.ts';
import type { BoardConfig } from '../files/agent-config.ts';
import type { Rest } from '../runner/at-rest.ts';
import { claimTitle } from './board-words.ts';
import type { UpShow } from './up-show.ts';

/** Which agents run, where, and what is unusual about the file. */
export async function tellStart(
  show: UpShow,
  { store_url, project, clock }: Coxswain,
  { file, agents }: BoardConfig,
  warnings: readonly FileProblem[],
  runs: string,
): Promise<void> {
  const store = shownStore(store_url);
  const names = agents.map(({ agent_id }) => agent_id);
  const text = `${plain(file)}: ${names.map(plain).join(', ')} (${plain(store)}, project ${plain(project)})`;
  await show.begin(text, { what: 'up', file, agents: names, store, project, runs });
  for (const { line, field, reason } of warnings)
    await show.tell({
      at_ms: clock.now_ms(),
      what: 'warning',
      text: plain(`${file}:${line}: ${field}: ${reason}`),
      style: 'yellow',
      about: { file, line, field, reason },
    });
}

/** Called when nothing runs any more. Tells where the work is that executions left and that is not on the board. */
export async function tellKept(show: UpShow, runs: string): Promise<void> {
  const kept = namesIn(runs);
  if (kept.length === 0) return;
  const text = `What is left of ${counted(kept.length, 'execution')} is kept in ${plain(runs)}: ${kept.map(plain).join(', ')}`;
  await show.say(text, { what: 'kept', runs, kept });
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** How the run ended, and the exit code for it. */
export async function tellRest(show: UpShow, { failed, decisions, completed }: Rest): Promise<number> {
  const code =
    failed.length > 0 ? EXIT_CODES.refused : decisions.length > 0 ? EXIT_CODES.waiting : EXIT_CODES.done;
  const lines = [
    ...failed.map(
      ({ state }) => `${claimTitle(state)} came to nothing: ${plain(state.termination_reason ?? '')}`,
    ),
    ...decisions.map(({ subject, command }) => `${plain(subject ?? '')}\n  ${plain(command ?? '')}`),
    `Nothing on the board is open: ${counted(completed, 'claim')} done${failed.length > 0 ? `, ${failed.length} failed` : ''}${decisions.length > 0 ? `, ${counted(decisions.length, 'decision')} for a person` : ''}.`,
  ];
  await show.say(lines.join('\n'), {
    what: 'idle',
    success: code === EXIT_CODES.done,
    completed,
    failed: failed.map(({ id, state }) => ({
      claim_id: id,
      artefact_id: state.artefact_id,
      artefact_type: state.artefact_type,
      termination_reason: state.termination_reason ?? null,
    })),
    decisions: [...decisions],
  });
  return code;
}
