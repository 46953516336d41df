import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { JsonObject } from '../../src/kernel/json.ts';
import { inTerminal, type Pty } from '../support/pty.ts';
import { until } from '../support/until.ts';
import { cox, finished, makeStore, type Scratch, scratch, start } from './support.ts';

const ENTER = '\u001b[?1049h';
const LEAVE = '\u001b[?1049l';
const SHOW_CURSOR = '\u001b[?25h';

const as = (place: Scratch, agent: string) => ({ COX_STORE: place.store, AGENT_ID: agent });
const run = (place: Scratch, agent: string, ...words: string[]) =>
  cox(words, { cwd: place.folder, env: as(place, agent) });

function follow(place: Scratch, ...words: string[]) {
  const child = start(['watch', ...words], { cwd: place.folder, env: as(place, 'me') });
  let out = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  return {
    child,
    seen: (text: string) => until(async () => out.includes(text)),
    lines: () => out.split('\n'),
  };
}

test('[CLI-1] watch in a pipe: a line for each thing that happens; Ctrl-C ends it well', async () => {
  using place = scratch();
  await run(place, 'alice', 'lock', 'acquire', 'old.ts');
  const { child, seen, lines } = follow(place, '--since', '0');
  await seen('alice locked old.ts');
  await run(place, 'alice', 'lock', 'acquire', 'src/app.ts', '--reason', 'rename the router');
  await seen('alice locked src/app.ts: rename the router');
  await run(place, 'bob', 'lock', 'acquire', 'src/app.ts');
  await seen('bob was refused acquire_lock: src/app.ts is locked by alice');
  const ended = finished(child);
  child.kill('SIGINT');
  assert.deepEqual([(await ended).code, (await ended).err], [0, '']);
  for (const line of lines().slice(0, -1)) assert.match(line, /^\d\d:\d\d:\d\d {2}\w/);
});

test('[CLI-1] watch --json: one object a line, and --since goes on where another one ended', async () => {
  using place = scratch();
  for (const path of ['a.ts', 'b.ts', 'c.ts']) await run(place, 'alice', 'lock', 'acquire', path);
  const all = async (since: number) => {
    const { out, code } = await run(place, 'me', 'watch', '--json', '--once', '--since', String(since));
    assert.equal(code, 0);
    return out
      .trim()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as JsonObject);
  };
  const events = await all(0);
  const locked = events.filter(({ type }) => type === 'lock_acquired');
  assert.deepEqual(
    locked.map(({ id, agent_id, kind, operation }) => [id, agent_id, kind, operation]),
    ['a.ts', 'b.ts', 'c.ts'].map((path) => [path, 'alice', 'lock', 'acquire_lock']),
  );
  const middle = Number(locked[1]?.position);
  assert.deepEqual(
    await all(middle),
    events.filter(({ position }) => Number(position) > middle),
  );
  assert.deepEqual(await all(Number(events.at(-1)?.position)), []);
  for (const wrong of ['-1', 'now', '1.5'])
    assert.equal((await run(place, 'me', 'watch', '--since', wrong)).code, 2, wrong);
});

test('[CLI-1] watch: a reader that goes away ends it without a word', async () => {
  using place = scratch();
  await makeStore(place);
  const { child, seen } = follow(place, '--since', '0');
  await run(place, 'alice', 'lock', 'acquire', 'a.ts');
  await seen('alice locked a.ts');
  child.stdout?.destroy();
  const ended = finished(child);
  // It learns of it by writing: a pipe says nothing by itself.
  await run(place, 'alice', 'lock', 'acquire', 'b.ts');
  assert.deepEqual([(await ended).code, (await ended).err], [0, '']);
});

/** What a person sees last: the text of the last picture, without escapes. */
function picture(pty: Pty): string[] {
  const [last = ''] = pty.output().split('\u001b[H').slice(-1);
  const frame = last.split('\u001b[?2026l')[0] ?? '';
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escapes are what this removes.
  return frame.replaceAll(/\u001b\[[\d;?]*[A-Za-z]/g, '').split(/[\r\n]+/);
}

async function watching(place: Scratch, env: Record<string, string> = {}, size = {}): Promise<Pty> {
  const pty = await inTerminal(['watch'], {
    cwd: place.folder,
    env: { ...as(place, 'me'), ...env },
    ...size,
  });
  await pty.shows('Events');
  return pty;
}

function assertRestored(pty: Pty): void {
  const out = pty.output();
  assert.ok(out.lastIndexOf(LEAVE) > out.lastIndexOf(ENTER), 'the other screen is left');
  assert.ok(out.lastIndexOf(SHOW_CURSOR) > out.lastIndexOf('\u001b[?25l'), 'the cursor is back');
  assert.ok(out.lastIndexOf('\u001b[?7h') > out.lastIndexOf('\u001b[?7l'), 'lines wrap again');
  assert.ok(out.lastIndexOf(LEAVE) > out.lastIndexOf('\u001b[H'), 'nothing is drawn afterwards');
}

test('[CLI-1] watch in a terminal: redrawn when something happens, in 80 columns and 24 rows', async () => {
  using place = scratch();
  await run(place, 'alice', 'lock', 'acquire', 'src/app.ts', '--reason', 'x'.repeat(300));
  await using pty = await watching(place);
  await run(place, 'bob', 'work', 'submit', 'test', 'run them');
  await pty.shows('bob submitted test');
  await until(async () => picture(pty).some((line) => line.includes('1 pending')));
  const lines = picture(pty);
  assert.ok(lines.length <= 24, `${lines.length} rows`);
  for (const line of lines) assert.ok(line.length <= 80, line);
  assert.match(lines.join('\n'), /src\/app\.ts +alice +2 h left +x+…/);
  const before = pty.output().length;
  // Nothing happens, and still the times go on.
  await pty.shows('\u001b[H', before);
  pty.type('q');
  assert.equal(await pty.ended(), 0);
  assertRestored(pty);
});

test('[CLI-1] watch gives the terminal back, whichever way it ends', async () => {
  using place = scratch();
  await makeStore(place);
  const crash = `data:text/javascript,process.on('SIGUSR2',()=>{throw%20Error('boom')})`;
  const ways: [string, (pty: Pty) => void, number | null][] = [
    ['Ctrl-C', (pty) => pty.type('\u0003'), 0],
    ['SIGINT', ({ pid }) => process.kill(pid, 'SIGINT'), 0],
    ['SIGTERM', ({ pid }) => process.kill(pid, 'SIGTERM'), 0],
    ['SIGHUP', ({ pid }) => process.kill(pid, 'SIGHUP'), 0],
    ['SIGQUIT', ({ pid }) => process.kill(pid, 'SIGQUIT'), 131],
    ['a crash', ({ pid }) => process.kill(pid, 'SIGUSR2'), 1],
    ['the store is gone', () => rmSync(join(place.folder, 'store'), { recursive: true }), 4],
  ];
  for (const [name, end, code] of ways) {
    await using pty = await watching(place, { NODE_OPTIONS: `--import=${crash}` });
    end(pty);
    assert.equal(await pty.ended(), code, name);
    assertRestored(pty);
  }
});

test('[CLI-1] watch: Ctrl-Z leaves the screen and fg comes back to it; a smaller window is drawn anew', async () => {
  using place = scratch();
  await run(place, 'alice', 'lock', 'acquire', 'src/app.ts');
  await using pty = await watching(place);
  const before = pty.output().length;
  process.kill(pty.pid, 'SIGTSTP');
  await pty.resume();
  // `script`, which stopped with it, may pass on the last of the old picture only now.
  await pty.shows(LEAVE, before);
  const away = pty.output().indexOf(LEAVE, before);
  await pty.shows(ENTER, away);
  await pty.shows('src/app.ts', pty.output().indexOf(ENTER, away));
  pty.type('q');
  assert.equal(await pty.ended(), 0);
  await using narrow = await watching(place, {}, { columns: 40, rows: 12 });
  await until(async () => picture(narrow).some((line) => line.includes('src/app.ts')));
  for (const line of picture(narrow)) assert.ok(line.length <= 40, line);
  assert.ok(picture(narrow).length <= 12);
});
