import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { localTime, parseMoment } from '../../src/kernel/moment.ts';

const NOW_MS = Date.UTC(2026, 2, 1, 12);
const zone = process.env.TZ;

after(() => {
  if (zone === undefined) delete process.env.TZ;
  else process.env.TZ = zone;
});

function at(text: string): string | number | undefined {
  const moment = parseMoment(text, NOW_MS);
  if (moment === undefined) return undefined;
  return 'position' in moment ? moment.position : new Date(moment.at_ms).toISOString();
}

test('[AUD-5] a moment: ISO with a zone, a while ago, a position', () => {
  const cases: [string, string | number][] = [
    ['2026-02-28T10:00:00Z', '2026-02-28T10:00:00.000Z'],
    ['2026-02-28T10:00:00.123456Z', '2026-02-28T10:00:00.123Z'],
    ['2026-02-28T10:00:00,5Z', '2026-02-28T10:00:00.500Z'],
    ['2026-02-28 10:00+02:00', '2026-02-28T08:00:00.000Z'],
    ['2026-02-28T10:00-0530', '2026-02-28T15:30:00.000Z'],
    ['2026-02-28T10:00+05', '2026-02-28T05:00:00.000Z'],
    ['2024-02-29T00:00Z', '2024-02-29T00:00:00.000Z'],
    ['now', '2026-03-01T12:00:00.000Z'],
    ['30m', '2026-03-01T11:30:00.000Z'],
    ['2h ago', '2026-03-01T10:00:00.000Z'],
    ['1h30m', '2026-03-01T10:30:00.000Z'],
    ['1d ago', '2026-02-28T12:00:00.000Z'],
    ['1w', '2026-02-22T12:00:00.000Z'],
    ['90s', '2026-03-01T11:58:30.000Z'],
    ['1500ms', '2026-03-01T11:59:58.500Z'],
    [' #123 ', 123],
    ['#0', 0],
  ];
  for (const [text, expected] of cases) assert.equal(at(text), expected, text);
});

test('[AUD-5] what could mean another moment than was meant is none', () => {
  const wrong = ['', '123', '1772366400', '12:00', 'yesterday', 'tomorrow', '2h from now', '1M', '1H', '-2h'];
  const noDates = [
    '2026-02-30',
    '2026-13-01',
    '2026-00-10',
    '2026-01-00',
    '26-01-01',
    '01/02/2026',
    '2026-1-1',
  ];
  const noTimes = [
    '2026-01-01T24:00Z',
    '2026-01-01T10:60Z',
    '2026-01-01T10:00:60Z',
    '2026-01-01T10',
    '2026-01-01Z',
  ];
  const others = [
    '#',
    '#-1',
    '#1.5',
    '#1e3',
    '2026-01-01T10:00+24:00',
    '2h\u001b[31m',
    '9'.repeat(400),
    '2h2h ago ago',
  ];
  for (const text of [...wrong, ...noDates, ...noTimes, ...others]) assert.equal(at(text), undefined, text);
});

test('[AUD-5] without a zone it is what the clocks of this place showed, if they showed it once', () => {
  process.env.TZ = 'Europe/Berlin';
  assert.equal(at('2026-03-01'), '2026-02-28T23:00:00.000Z');
  assert.equal(at('2026-07-01 12:00'), '2026-07-01T10:00:00.000Z');
  assert.equal(at('2026-03-29 02:30'), undefined, 'left out in spring');
  assert.equal(at('2026-10-25 02:30'), undefined, 'shown twice in autumn');
  assert.equal(at('2026-10-25T02:30+02:00'), '2026-10-25T00:30:00.000Z');
  assert.equal(at('2026-10-25 01:59'), '2026-10-24T23:59:00.000Z');
  assert.equal(at('2026-10-25 03:00'), '2026-10-25T02:00:00.000Z');
  const written = localTime(Date.UTC(2026, 6, 1, 10, 0, 5, 700));
  assert.equal(written, '2026-07-01 12:00:05');
  assert.equal(at(written), '2026-07-01T10:00:05.000Z', 'what is shown can be given back');
});
