import { maskSecrets } from '../../command-analysis/secrets.ts';
import { sha256 } from '../../kernel/hash.ts';
import { canonical, type JsonObject } from '../../kernel/json.ts';
import { answerOf } from '../../ledger/decision.ts';
import type { InternalCommand, Step } from '../../runtime/operation.ts';
import { guardOperation } from '../trust/approvals/index.ts';
import type { Guard } from '../trust/index.ts';
import { rulesFor } from '../trust/rules/index.ts';

const SUBJECT_CHARS_MAX = 200;

/** What a door or an operation has found, without the agent that is about to do it. */
export type PlainGuard = Omit<Guard, 'caller' | 'default_trust'>;

/**
 * Hash of exactly what would be done, at whichever door: an approval obtained at one door is valid at the
 * others.
 */
export function exactHash(kind: string, what: JsonObject): string {
  return sha256(canonical({ kind, what }));
}

/** On one line, without secrets. */
export function subjectOf(text: string): string {
  const line = maskSecrets(text).replaceAll(/\s+/g, ' ').trim();
  return line.length <= SUBJECT_CHARS_MAX ? line : `${line.slice(0, SUBJECT_CHARS_MAX - 1).toWellFormed()}…`;
}

/**
 * A command as all doors present it to the guard and a person; `folder` is where it would run, relative to
 * the workspace's root.
 */
export function commandGuard(
  command: string,
  folder: string,
  findings: Guard['findings'],
  file_paths: readonly string[] = [],
): PlainGuard {
  const files = [...file_paths].sort();
  // A yes to `git push --force` on one branch is no yes to the same on main.
  const branches = [...new Set(findings.flatMap(({ branch }) => branch ?? []))].join(', ');
  const on = branches === '' ? {} : { branch: branches };
  return {
    kind: 'command',
    hash: exactHash('command', { command, folder, files, ...on }),
    subject: subjectOf(command),
    context: {
      command: maskSecrets(command),
      folder,
      ...on,
      ...(files.length === 0 ? {} : { file_paths: files }),
    },
    // The finder has already masked it; what is stored permanently is masked a second time.
    findings: findings.map((finding) => ({ ...finding, matched: maskSecrets(finding.matched) })),
  };
}

/** Adds the agent that is about to do it, and what the decision has to know about that agent. */
export function askedBy(guard: PlainGuard, step: Step): Guard {
  const { agent_id, agent_type, session_id } = step.caller;
  const { default_trust } = rulesFor(step);
  return { ...guard, caller: { agent_id, agent_type, session_id }, default_trust };
}

/** Decides about what an agent is about to do, and notifies people where required. */
export async function guardStep(guard: PlainGuard, step: Step): Promise<JsonObject> {
  const answer = answerOf(await step.run(guardOperation(askedBy(guard, step))));
  announceGuarded(answer, step);
  return answer;
}

/** Called after a commit that a guard took part in. */
export function announceGuarded(answer: JsonObject, step: Step): void {
  if (answer.approval_status === 'pending' || answer.elevated === true) step.announce();
}

/**
 * For doors that have done the analysis themselves, such as hooks: not listed as an operation, but it goes
 * through the same loop and writes the same row in the log.
 */
export const guardAction = {
  name: 'check_guardrails',
  group: 'guard',
  mutates: true,
  handle: (guard, step) => guardStep(guard, step),
} satisfies InternalCommand<PlainGuard>;
