import { relative } from 'node:path';
import { maskSecrets } from '../../command-analysis/secrets.ts';
import type { Place as Where } from '../../command-analysis/shell/analyse-shell.ts';
import { branchesHere } from '../../features/guardrails/edits/index.ts';
import {
  type Assessment,
  commandGuard,
  concluded,
  exactHash,
  gatherFacts,
  guardAction,
  isOwnWorktree,
  type ProjectPatterns,
  readGuardrails,
  subjectOf,
} from '../../features/guardrails/index.ts';
import type { Finding } from '../../features/trust/index.ts';
import { hasChannels } from '../../features/trust/notify/index.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { isRefusal } from '../../kernel/refusal.ts';
import type { HookVerdict, Order } from './hook-call.ts';
import type { HookPlace } from './hook-place.ts';
import type { Danger } from './touched.ts';

const SHOWN_CHARS_MAX = 20_000;

/**
 * Only this client passes a question on to the person at its terminal; the other clients treat it as a yes.
 */
const ASKS = 'claude-code';

/**
 * Checks the danger again with the project's patterns and the facts of its repository. What is still found
 * goes to the one operation that decides. Undefined: nothing is in the way.
 */
export async function judge(
  order: Order,
  danger: Danger,
  place: HookPlace,
): Promise<HookVerdict | undefined> {
  const findings = danger.kind === 'file' ? danger.assessment.findings : await stillFound(danger, place);
  if (findings.length === 0) return undefined;
  const can_ask = order.client === ASKS;
  const guard = danger.kind === 'file' ? fileGuard(danger, findings) : guardFor(danger, findings, place);
  const answer = await place.connection.performBuilt(guardAction, { ...guard, can_ask });
  await tellPeople(answer, place);
  return verdictOf(answer);
}

async function stillFound({ text, cwd, assessment }: Danger, place: HookPlace): Promise<readonly Finding[]> {
  const { root } = place.coxswain.workspace;
  const { env } = place;
  const where = { cwd, home: env.HOME, root, ...branchesHere, isOwnWorktree: isOwnWorktree(root, env) };
  const { project } = await readGuardrails(root, env);
  const whole = project === undefined ? assessment : await again(text, where, project);
  if (whole.findings.length === 0) return [];
  return await concluded(whole, where, await gatherFacts(whole, where), project?.off);
}

/** With the project's own patterns, by the module that read the command before. */
async function again(text: string, where: Where, project: ProjectPatterns): Promise<Assessment> {
  const { assessCommand } = await import('../../features/guardrails/command-line.ts');
  return assessCommand(text, where, project);
}

function guardFor({ text, cwd }: Danger, findings: readonly Finding[], { coxswain }: HookPlace) {
  const folder = relative(coxswain.workspace.root, cwd);
  return commandGuard(text, folder, findings);
}

/** For an edit everything is shown, except the secrets in it. */
function fileGuard({ text }: Danger, findings: readonly Finding[]) {
  const files = [...new Set(findings.flatMap(({ file }) => file ?? []))];
  const shown = maskSecrets(text);
  const input = shown.length > SHOWN_CHARS_MAX ? `${shown.slice(0, SHOWN_CHARS_MAX).toWellFormed()}…` : shown;
  return {
    kind: 'file',
    hash: exactHash('file', { text }),
    subject: subjectOf(files.length === 0 ? 'an edit' : `an edit of ${files.join(', ')}`),
    context: { files, input },
    findings,
  };
}

/** A hook does not wait until a person has been told. */
async function tellPeople(answer: JsonObject, { coxswain, env }: HookPlace): Promise<void> {
  const isNews = answer.approval_status === 'pending' || answer.elevated === true;
  if (!isNews || !hasChannels(env)) return;
  const { store_url, project, workspace } = coxswain;
  const { sendDetached } = await import('../../features/trust/notify/detached.ts');
  sendDetached({ env, cwd: workspace.root, store_url, project });
}

function verdictOf(answer: JsonObject): HookVerdict | undefined {
  if (isRefusal(answer)) return { deny: denial(answer) };
  const warnings = (answer.warnings ?? []) as unknown as Finding[];
  const said = warnings.map(({ reason, matched, instead }) =>
    [`${reason} (${matched})`, ...(instead === undefined ? [] : [instead])].join(' '),
  );
  if (answer.ask === true) return { ask: `Coxswain: ${said.join(' ')}` };
  if (said.length === 0) return undefined;
  const text = `Coxswain warns: ${said.join(' ')}`;
  return { context: text, notice: text };
}

/** What was found, what to do instead, and how a person permits it, in one message for the agent. */
function denial(answer: JsonObject): string {
  const { message, remedy, approval_id, approval_status } = answer;
  const violations = (answer.violations ?? []) as unknown as Finding[];
  const instead = violations.find((each) => each.instead !== undefined)?.instead;
  const person =
    approval_status === 'pending'
      ? ` A person can permit exactly this once, with \`cox approve ${approval_id}\`; then repeat it unchanged.`
      : ` ${remedy}`;
  return `Coxswain: ${message}${instead === undefined ? '' : ` Instead: ${instead}`}${person}`;
}
