import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import fc from 'fast-check';
import type { JsonObject } from '../../src/kernel/json.ts';
import { commandLines, layOut, type View } from '../../src/transports/cli/output/layout.ts';
import { noPaint, painter, wantsColour } from '../../src/transports/cli/output/paint.ts';
import { renderAnswer } from '../../src/transports/cli/output/render.ts';
import { clip, plain, relative, span, width, wrapped } from '../../src/transports/cli/output/text.ts';

const NOW = Date.parse('2026-03-01T12:00:00Z');
const view = (columns: number): View => ({ columns, now_ms: NOW, paint: noPaint });
const ID = '01926f5e-0000-7000-8000-00000000abcd';

test('[CLI-1] widths: what a terminal shows in two columns counts as two, marks as none', () => {
  const widths: [string, number][] = [
    ['', 0],
    ['plain', 5],
    ['日本語', 6],
    ['한글', 4],
    ['é', 1],
    ['e\u0301', 1],
    ['🚀', 2],
    ['🇨🇭', 2],
    ['👍🏽', 2],
    ['❤️', 2],
    ['ﬁ', 1],
    ['ＡＢ', 4],
  ];
  for (const [text, columns] of widths) assert.equal(width(text), columns, text);
  assert.equal(clip('日本語テキスト', 7), '日本語…');
  assert.equal(clip('日本語', 6), '日本語');
  assert.equal(clip('hello', 5), 'hello');
  assert.equal(clip('hello!', 5), 'hell…');
  assert.equal(clip('🚀🚀🚀', 1), '…');
  assert.equal(clip('x'.repeat(1_000_000), 10), 'xxxxxxxxx…');
});

test('[CLI-1] whatever an agent wrote, a line stays a line, fits, and holds nothing a terminal obeys', () => {
  const hostile = fc.string({ unit: 'binary', maxLength: 60 });
  fc.assert(
    fc.property(hostile, fc.integer({ min: 1, max: 100 }), (text, columns) => {
      const shown = clip(plain(text), columns);
      assert.ok(width(shown) <= columns);
      assert.doesNotMatch(shown, /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
      for (const line of wrapped(plain(text), Math.max(2, columns), 'cut'))
        assert.ok(width(line) <= Math.max(2, columns));
    }),
  );
  const zalgo = `a${'\u0301'.repeat(500)}`;
  assert.ok(plain(zalgo).length <= 4, 'marks do not pile up over the lines above');
});

test('[CLI-1] no line of an answer is wider than the terminal, and ids are never cut', () => {
  const value = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 80 }),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
  );
  const row = fc.record({
    task_id: fc.constant(ID),
    status: value,
    reason: value,
    files: fc.array(fc.string()),
  });
  fc.assert(
    fc.property(
      fc.array(row, { minLength: 1, maxLength: 5 }),
      fc.constantFrom(40, 80, 200),
      (rows, columns) => {
        const lines = renderAnswer({ success: true, rows }, view(columns)).split('\n');
        for (const line of lines) assert.ok(width(line) <= columns, line);
        assert.equal(lines.filter((line) => line.includes(ID)).length, rows.length);
      },
    ),
  );
});

test('[CLI-1] columns: long texts share what room there is; nothing ends in blanks', () => {
  const rows = [
    ['a', 'x'.repeat(100), 'y'.repeat(100)],
    ['bb', '', 'short'],
  ];
  const lines = layOut(rows, [{}, { min: 5 }, { min: 5 }], view(40));
  assert.deepEqual(lines, [`  a   ${'x'.repeat(15)}…  ${'y'.repeat(15)}…`, `  bb  ${' '.repeat(18)}short`]);
});

test('[CLI-1] a command to copy is broken as a shell reads it, never cut', () => {
  assert.deepEqual(commandLines(`cox work retry ${ID}`, view(80), 4), [`    cox work retry ${ID}`]);
  const narrow = commandLines(`cox work retry ${ID}`, view(40), 2);
  assert.deepEqual(narrow, ['  cox work retry \\', `    ${ID}`]);
});

test('[CLI-1] whatever is in a command, a shell reads the same words from its lines, and none is too wide', () => {
  const word = fc.string({
    unit: fc.constantFrom('a', 'Z', '-', ' ', "'", '\\', '"', '$', '日', 'é', '❤️'),
    maxLength: 90,
  });
  fc.assert(
    fc.property(
      fc.array(word, { minLength: 1, maxLength: 4 }),
      fc.integer({ min: 20, max: 90 }),
      (words, columns) => {
        const quoted = words.map((each) => `'${each.replaceAll("'", `'\\''`)}'`);
        const lines = commandLines(`printf '%s\\0' ${quoted.join(' ')} end`, view(columns), 4);
        for (const line of lines) assert.ok(width(line) <= columns, line);
        const read = spawnSync('sh', ['-c', lines.join('\n')], { encoding: 'utf8' });
        assert.deepEqual(read.stdout.split('\0').slice(0, -1), [...words, 'end'], lines.join('\n'));
      },
    ),
  );
});

test('[CLI-1] times are relative, lists are words, nothing is none', () => {
  const answer: JsonObject = {
    success: true,
    file_path: 'src/a.ts',
    expires_at: '2026-03-01T12:25:00Z',
    capabilities: ['ts', 'review'],
    files: [],
    shared: true,
    handoff: null,
    rules: { reviews: [], at_once: 2 },
  };
  assert.equal(
    renderAnswer(answer, view(80)),
    `${[
      'file path     src/a.ts',
      'expires       2026-03-01T12:25:00Z (in 25 min)',
      'capabilities  ts, review',
      'files         none',
      'shared        yes',
      'handoff       none',
      'rules',
      '  reviews  none',
      '  at once  2',
    ].join('\n')}\n`,
  );
  assert.equal(renderAnswer({ success: true }, view(80)), 'done\n');
  assert.deepEqual(
    [span(0), span(99_400), span(120_000), span(8e6), span(2e8)],
    ['0 s', '99 s', '2 min', '2 h', '2 d'],
  );
  assert.deepEqual(
    [relative('2026-03-01T11:59:57Z', NOW), relative('x', NOW), relative(3, NOW)],
    ['3 s ago', undefined, undefined],
  );
});

test('[CLI-1] hand-offs and letters read like texts, in the lines their authors gave them', () => {
  const handoff = {
    handoff_id: ID,
    agent_name: 'alice',
    summary: 'routes moved\ntests red \u001b[2J',
    completed_work: ['routes'],
    next_steps: [],
    created_at: '2026-03-01T11:58:00Z',
  };
  assert.equal(
    renderAnswer({ success: true, handoffs: [handoff] }, view(80)),
    `Hand-off by alice, 2 min ago · ${ID}\n  │ routes moved\n  │ tests red  [2J\n  Done\n    - routes\n`,
  );
  const message = {
    message_id: ID,
    from: 'bob',
    to: 'alice',
    body: 'free\nnow',
    sent_at: '2026-03-01T11:59:50Z',
  };
  assert.equal(
    renderAnswer({ success: true, messages: [message] }, view(80)),
    `bob to alice, 10 s ago\n  │ free\n  │ now\n  ${ID}\n`,
  );
});

test('[CLI-1] colour: a wish counts first, then FORCE_COLOR, NO_COLOR, and whether a terminal is there', () => {
  const cases: [boolean | undefined, NodeJS.ProcessEnv, boolean, boolean][] = [
    [undefined, {}, true, true],
    [undefined, {}, false, false],
    [undefined, { NO_COLOR: '1' }, true, false],
    [undefined, { NO_COLOR: '' }, true, true],
    [undefined, { FORCE_COLOR: '1' }, false, true],
    [undefined, { FORCE_COLOR: '0' }, true, false],
    [undefined, { FORCE_COLOR: '1', NO_COLOR: '1' }, false, true],
    [undefined, { TERM: 'dumb' }, true, false],
    [false, { FORCE_COLOR: '1' }, true, false],
    [true, { NO_COLOR: '1' }, false, true],
  ];
  for (const [wish, env, terminal, colour] of cases)
    assert.equal(wantsColour(wish, env, terminal), colour, JSON.stringify([wish, env, terminal]));
  assert.equal(painter(true)('dead', 'red'), '\u001b[31mdead\u001b[39m');
  assert.equal(painter(false)('dead', 'red'), 'dead');
});
