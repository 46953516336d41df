import { isoTime } from '../../../kernel/clock.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { Moment } from '../../../kernel/moment.ts';
import type { Refusal } from '../../../kernel/refusal.ts';
import type { EntityRecord } from '../../../ledger/entity.ts';
import { changesBetween } from '../../../ledger/time-travel/travel.ts';
import { invalid } from '../../../runtime/answer.ts';
import type { Coxswain } from '../../../runtime/coxswain.ts';
import { entities } from '../../../runtime/entities.ts';
import { withoutSecrets } from '../../../transports/cli/output/mask-typed-secrets.ts';
import type { Choice } from '../../../transports/cli/output/pick.ts';
import { type Terminal, viewOf } from '../../../transports/cli/output/terminal.ts';
import {
  type CommonOptions,
  conclude,
  type Result,
  withStoreThere,
} from '../../../transports/cli/program/common.ts';
import { type Difference, differenceOf, type Side } from './differences.ts';
import { openHistory, readMoment, refuseMissing } from './read-history.ts';

export interface DiffOptions extends CommonOptions, Choice {
  readonly from?: string;
  readonly to?: string;
  readonly archive?: readonly string[];
}

type Found =
  | { readonly ok: true; readonly difference: Difference }
  | { readonly ok: false; readonly refusal: Refusal };

export async function showDiff(options: DiffOptions, terminal: Terminal, result: Result): Promise<void> {
  let pictured: Difference | undefined;
  const answer = await withStoreThere(options, terminal, async (coxswain) => {
    const found = await find(coxswain, options, terminal);
    if (!found.ok) return found.refusal;
    if (options.json === true) return described(found.difference);
    pictured = found.difference;
    return { success: true };
  });
  if (pictured === undefined) return await conclude(terminal, answer, options, result);
  const { diffLines } = await import('./diff-screen.ts');
  const view = viewOf(terminal, { color: options.color, now_ms: pictured.to.at_ms });
  await terminal.out(`${diffLines(pictured, options, view).join('\n')}\n`);
}

async function find(coxswain: Coxswain, options: DiffOptions, terminal: Terminal): Promise<Found> {
  if (options.from === undefined)
    return refused(invalid('from', 'the moment to compare with, such as "2h ago"'));
  const history = await openHistory(coxswain, terminal, options.archive);
  const missing = refuseMissing(history);
  if (missing !== undefined) return refused(missing);
  const from = await readMoment(coxswain, 'from', options.from);
  if (!from.ok) return from;
  const to = await readMoment(coxswain, 'to', options.to ?? 'now');
  if (!to.ok) return to;
  const moments = { from: from.moment, to: to.moment };
  const tooLate = refused(invalid('from', 'a moment before --to'));
  if (isLater(moments.from, moments.to)) return tooLate;
  const rows = await history.rowsUpTo(moments.from, moments.to);
  const between = await changesBetween(rows, entities, moments);
  if (between.from.position > between.to.position) return tooLate;
  return { ok: true, difference: differenceOf(between, moments, options) };
}

function refused(refusal: Refusal): Found {
  return { ok: false, refusal };
}

/** As far as it can be told without the log. */
function isLater(a: Moment, b: Moment): boolean {
  if ('at_ms' in a && 'at_ms' in b) return a.at_ms > b.at_ms;
  return 'position' in a && 'position' in b && a.position > b.position;
}

function described({ from, to, created, changed, gone, ran_out }: Difference): JsonObject {
  return {
    success: true,
    from: sideOf(from),
    to: sideOf(to),
    created: created.map(recordOf),
    changed: changed.map(({ before, after, fields }) => ({
      kind: after.kind,
      id: after.id,
      version: { from: before.version, to: after.version },
      fields: fields.map((field) => ({ ...field })),
    })),
    gone: gone.map(recordOf),
    ran_out: ran_out.map(({ record: { kind, id }, from: before, to: after }) => ({
      kind,
      id,
      from: before,
      to: after,
    })),
  };
}

function sideOf({ at_ms, reach }: Side): JsonObject {
  const { position, later_rows } = reach;
  return { at: isoTime(at_ms), position, ...(later_rows === 0 ? {} : { later_rows }) };
}

function recordOf({ kind, id, version, born, state }: EntityRecord): JsonObject {
  return { kind, id, version, born, state: withoutSecrets(state) };
}
