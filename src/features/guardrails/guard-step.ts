import { maskSecrets } from '../../command-analysis/secrets.ts';
import { sha256 } from '../../kernel/hash.ts';
import { canonical, type JsonObject } from '../../kernel/json.ts';
import { answerOf, type Operation, type Step } from '../../runtime/operation.ts';
import { guardOperation } from '../trust/approvals/index.ts';
import { rulesFor } from '../trust/enforcement/index.ts';
import type { Guard } from '../trust/index.ts';

const SUBJECT_CHARS_MAX = 200;

/** What a door or an operation has found, without who is about to do it. */
export type PlainGuard = Omit<Guard, 'caller' | 'default_trust'>;

/** Of what would be done exactly, wherever it is tried: an approval got at one door is good at the other. */
export function exactHash(kind: string, what: JsonObject): string {
  return sha256(canonical({ kind, what }));
}

/** In one line, without secrets. */
export function subjectOf(text: string): string {
  const line = maskSecrets(text).replaceAll(/\s+/g, ' ').trim();
  return line.length <= SUBJECT_CHARS_MAX ? line : `${line.slice(0, SUBJECT_CHARS_MAX - 1).toWellFormed()}…`;
}

/** A command as all doors put it before the guard and a person; `folder` is where it would run, from the workspace's top. */
export function commandGuard(
  command: string,
  folder: string,
  findings: Guard['findings'],
  file_paths: readonly string[] = [],
): PlainGuard {
  const files = [...file_paths].sort();
  // A yes to `git push --force` on one branch is none to that of main.
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
    // Whoever found it has masked it; what is written down for good is looked at twice.
    findings: findings.map((finding) => ({ ...finding, matched: maskSecrets(finding.matched) })),
  };
}

/** With who is about to do it, and what is to be known of them. */
export function askedBy(guard: PlainGuard, step: Step): Guard {
  const { agent_id, agent_type, session_id } = step.caller;
  const { default_trust } = rulesFor(step);
  return { ...guard, caller: { agent_id, agent_type, session_id }, default_trust };
}

/** Decides about what an agent is about to do, and has people told where they are to be. */
export async function guardStep(guard: PlainGuard, step: Step): Promise<JsonObject> {
  const answer = answerOf(await step.run(guardOperation(askedBy(guard, step))));
  announceGuarded(answer, step);
  return answer;
}

/** After a commit in which a guard had its say. */
export function announceGuarded(answer: JsonObject, step: Step): void {
  if (answer.approval_status === 'pending' || answer.elevated === true) step.announce();
}

/**
 * For doors that have done the analysis themselves, as hooks have: in no list of operations, but through the same loop and with
 * the same row in the log.
 */
export const guardAction = {
  name: 'check_guardrails',
  group: 'guard',
  verb: 'check',
  summary: 'Decides about what was found in something an agent is about to do.',
  route: { method: 'POST', path: '/guardrails/check' },
  mutates: true,
  standard: false,
  examples: [],
  input: () => Promise.reject(new Error('only our own code asks for this, with an input it has built')),
  handle: (guard, step) => guardStep(guard, step),
} satisfies Operation<PlainGuard>;
