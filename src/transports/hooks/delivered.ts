import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fingerprint } from '../../kernel/fingerprint.ts';
import { stateFolder } from '../../storage/state-folder.ts';
import type { HookPlace } from './hook-place.ts';
import { DELIVERED, STARTED } from './left-behind.ts';

const KEPT_MAX = 200;
const OLD_MS = 7 * 24 * 3600 * 1000;

/**
 * Which messages a session has been shown. Only the agent acknowledges messages, so this is our own note on
 * this machine. If it is lost, a message is shown twice.
 */
function noteOf({ coxswain, actor, env }: HookPlace): string | undefined {
  const state = stateFolder(env);
  if (typeof state !== 'string') return undefined;
  const { store_url, project } = coxswain;
  const name = fingerprint([store_url, project, actor.agent_id, actor.session_id].join('\n'));
  return join(state, DELIVERED, `${name}.json`);
}

export function deliveredIds(place: HookPlace): Set<string> {
  try {
    const ids: unknown = JSON.parse(readFileSync(noteOf(place) ?? '', 'utf8'));
    return new Set(Array.isArray(ids) ? ids.map(String) : []);
  } catch {
    return new Set();
  }
}

/** Two hooks of one session may note at the same time: the later one wins, and the other's mail is shown again. */
export function noteDelivered(place: HookPlace, ids: Iterable<string>): void {
  const note = noteOf(place);
  if (note === undefined) return;
  const aside = `${note}.${process.pid}`;
  try {
    mkdirSync(join(note, '..'), { recursive: true, mode: 0o700 });
    writeFileSync(aside, JSON.stringify([...ids].slice(-KEPT_MAX)), { mode: 0o600 });
    renameSync(aside, note);
  } catch {
    rmSync(aside, { force: true });
  }
}

/** At the end of a session, with what crashed ones have left behind. */
export function forgetDelivered(place: HookPlace): void {
  const note = noteOf(place);
  if (note === undefined) return;
  rmSync(note, { force: true });
  for (const folder of [join(note, '..'), join(note, '..', '..', STARTED)])
    removeOld(folder, place.coxswain.clock.now_ms() - OLD_MS);
}

function removeOld(folder: string, oldest_ms: number): void {
  for (const name of listNames(folder)) {
    const path = join(folder, name);
    if ((statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? oldest_ms) < oldest_ms)
      rmSync(path, { force: true });
  }
}

function listNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
