import type { Json } from '../../../kernel/json.ts';
import { localTime } from '../../../kernel/moment.ts';
import type { EntityRecord } from '../../../ledger/entity.ts';
import { type FieldChange, pointerNames } from '../../../ledger/time-travel/difference.ts';
import { BOOKKEEPING, standingOf, titleOf } from '../../../transports/cli/narration/state-words.ts';
import { type Cell, oneLine, type View } from '../../../transports/cli/output/layout.ts';
import { withoutSecrets } from '../../../transports/cli/output/mask-typed-secrets.ts';
import type { Style } from '../../../transports/cli/output/paint.ts';
import type { Choice } from '../../../transports/cli/output/pick.ts';
import { counted, plain } from '../../../transports/cli/output/text.ts';
import { valueText } from '../../../transports/cli/output/values.ts';
import type { Changed, Difference, Side } from './differences.ts';

/** People don't read more than this; `--json` has everything. */
const LINES_PER_PART = 200;

/** What changed, one line each; fields only where nothing shorter says it. */
export function diffLines(difference: Difference, choice: Choice, view: View): string[] {
  const { from, to, created, changed, gone, ran_out } = difference;
  const shows = ({ kind }: EntityRecord) => choice.kind !== undefined || !BOOKKEEPING.has(kind);
  const line = (record: EntityRecord, what: string, style?: Style) =>
    oneLine(
      [{ text: `${plain(record.kind)} `, style: 'dim' }, titleOf(record), '  ', { text: what, style }],
      view,
      2,
    );
  const whole = (record: EntityRecord, at_ms: number) =>
    standingOf(record, at_ms) ?? valueText(withoutSecrets(record.state));
  const parts: [string, string[]][] = [
    ['created', created.filter(shows).map((record) => line(record, whole(record, to.at_ms), 'green'))],
    [
      'changed',
      changed
        .filter(({ after, fields }) => shows(after) && fields.length > 0)
        .flatMap((each) => changedLines(each, from, to, line, view)),
    ],
    ['gone', gone.filter(shows).map((record) => line(record, whole(record, from.at_ms), 'red'))],
    ['by time alone', ran_out.map((each) => line(each.record, `${each.from} → ${each.to}`, 'yellow'))],
  ];
  const lines = [oneLine(['From ', ...sideCells(from), ' to ', ...sideCells(to)], view)];
  for (const [title, found] of parts) lines.push(...part(title, found, view));
  if (lines.length === 1) lines.push('Nothing has changed.');
  const hidden = [...created, ...changed.map(({ after }) => after), ...gone].filter(
    (record) => !shows(record),
  );
  if (hidden.length > 0)
    lines.push(
      '',
      oneLine(
        [{ text: `${counted(hidden.length, 'record')} of bookkeeping: --kind '*' shows them`, style: 'dim' }],
        view,
      ),
    );
  return lines;
}

function sideCells({ at_ms, reach }: Side): Cell[] {
  const unsure = reach.later_rows === 0 ? '' : `, ${counted(reach.later_rows, 'row')} labelled later`;
  return [
    { text: localTime(at_ms), style: 'bold' },
    { text: ` (#${reach.position}${unsure})`, style: 'dim' },
  ];
}

function part(title: string, lines: readonly string[], view: View): string[] {
  if (lines.length === 0) return [];
  const rest = lines.length - LINES_PER_PART;
  const more =
    rest <= 0
      ? []
      : [oneLine([{ text: `… and ${counted(rest, 'line')} more; --json has all`, style: 'dim' }], view, 2)];
  return ['', oneLine([{ text: title, style: 'bold' }], view), ...lines.slice(0, LINES_PER_PART), ...more];
}

function changedLines(
  { before, after, fields }: Changed,
  from: Side,
  to: Side,
  line: (record: EntityRecord, what: string, style?: Style) => string,
  view: View,
): string[] {
  const was = standingOf(before, from.at_ms);
  const is = standingOf(after, to.at_ms);
  if (was !== undefined && is !== undefined && was !== is) return [line(after, `${was} → ${is}`, 'cyan')];
  return [line(after, is ?? ''), ...fields.map((field) => fieldLine(field, view))];
}

function fieldLine({ path, from, to }: FieldChange, view: View): string {
  const names = pointerNames(path);
  const name = names.map(plain).join('.');
  const said = (value: Json | undefined) =>
    value === undefined ? 'none' : fieldText(names.at(-1) ?? '', value);
  return oneLine([{ text: `${name}  `, style: 'dim' }, `${said(from)} → ${said(to)}`], view, 6);
}

/** For a person, a moment is shown as a time. */
function fieldText(name: string, value: Json): string {
  return name.endsWith('_at_ms') && typeof value === 'number' ? localTime(value) : valueText(value);
}
