import { systemClock } from '../../../kernel/clock.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { isRefusal, type Refusal, refuse } from '../../../kernel/refusal.ts';
import type { Coxswain } from '../../../runtime/coxswain.ts';
import type { AnyOperation } from '../../../runtime/operation.ts';
import { type Terminal, viewOf } from '../../../transports/cli/output/terminal.ts';
import {
  type CommonOptions,
  cliIdentity,
  cliShowing,
  withStoreThere,
} from '../../../transports/cli/program/common.ts';
import { confirmed, isPerson, type Person, personAuthority } from '../../../transports/cli/program/person.ts';
import type { ApprovalState } from '../approvals/approval.ts';
import { shownHash } from '../approvals/request-approval.ts';
import { approve, denyApproval, showApproval } from '../operations/approval-operations.ts';
import { renderApproval } from './approval-screen.ts';

export interface DecisionOptions extends CommonOptions {
  readonly yes?: boolean;
  readonly reason?: string;
  readonly personKeyFile?: string;
}

/** Shows all of it, asks, and decides about exactly what was shown. */
export async function decide(
  verdict: 'approve' | 'deny',
  approval_id: string,
  options: DecisionOptions,
  terminal: Terminal,
): Promise<JsonObject> {
  return await withStoreThere(options, terminal, async (coxswain) => {
    // A caller without authority is turned away before being shown anything.
    const person = await personAuthority(coxswain, terminal, options);
    if (!isPerson(person)) return person;
    const shown = await lookAt(coxswain, approval_id, options, terminal);
    if (isRefusal(shown)) return shown;
    const approval = shown.approval as JsonObject;
    if (options.json !== true) {
      const view = viewOf(terminal, { color: options.color, now_ms: systemClock.now_ms() });
      await terminal.out(`${renderApproval(approval, view, 0).join('\n')}\n`);
    }
    const isMeant = await confirmed(person, terminal, approval_id, options.yes === true);
    if (typeof isMeant !== 'boolean') return isMeant;
    if (!isMeant) return leftAlone();
    const input = { approval_id, shown_hash: approval.shown_hash as string, reason: options.reason };
    return await asPerson(coxswain, person, verdict === 'approve' ? approve : denyApproval, input);
  });
}

async function lookAt(
  coxswain: Coxswain,
  approval_id: string,
  options: CommonOptions,
  terminal: Terminal,
): Promise<JsonObject> {
  const who = cliIdentity(options, terminal.env);
  if (!who.ok) return who.refusal;
  const connection = coxswain.connect(who.actor, 'operator', cliShowing(terminal.env));
  const shown = await connection.perform(showApproval, { approval_id });
  if (isRefusal(shown)) return shown;
  // The hash is computed from what is on the screen, so a record that was written past Coxswain is not shown
  // as sound.
  const approval = shown.approval as unknown as ApprovalState;
  if (shownHash(approval) === approval.shown_hash) return shown;
  return refuse('approval_changed', `What the store holds under ${approval_id} is not what was asked for.`);
}

/**
 * An operation that only a person may call: the person at the terminal types its subject once more to
 * confirm.
 */
export async function performPersonally(
  coxswain: Coxswain,
  terminal: Terminal,
  operation: AnyOperation,
  input: JsonObject,
): Promise<JsonObject> {
  // Invalid input is reported to any caller, before a person has typed anything.
  const parsed = (await operation.input()).parse(input);
  if (!parsed.ok) return parsed.refusal;
  const person = await personAuthority(coxswain, terminal);
  if (!isPerson(person)) return person;
  const about = String(input[operation.positional?.[0] ?? ''] ?? operation.name);
  const isMeant = await confirmed(person, terminal, about, true);
  if (typeof isMeant !== 'boolean') return isMeant;
  return isMeant ? await asPerson(coxswain, person, operation, input) : leftAlone();
}

function leftAlone(): Refusal {
  return refuse('not_confirmed', 'It was left as it is.');
}

async function asPerson(
  coxswain: Coxswain,
  { actor }: Person,
  operation: AnyOperation,
  input: JsonObject,
): Promise<JsonObject> {
  return await coxswain.connect(actor, 'person', { shows: 'never' }).perform(operation, input);
}
