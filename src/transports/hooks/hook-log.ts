import { appendFileSync, existsSync, mkdirSync, renameSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isoTime } from '../../kernel/clock.ts';
import { stateFolder } from '../../storage/state-folder.ts';
import { oneLine } from '../shared/quoted.ts';
import type { HookCall, Order } from './hook-call.ts';
import { type HookLedger, type HookSurroundings, storeUrl, workspaceFor } from './hook-ledger.ts';
import { FAILURES, OLDER_FAILURES } from './left-behind.ts';

const BYTES_MAX = 256 * 1024;
const MESSAGE_CHARS_MAX = 500;

/** Beside the store if it is a file and its folder exists; otherwise in the user's state folder. */
function foldersFor(store_url: string | undefined, env: NodeJS.ProcessEnv): string[] {
  const state = stateFolder(env);
  const beside = store_url?.startsWith('sqlite:') ? dirname(store_url.slice('sqlite:'.length)) : undefined;
  return [
    ...(beside !== undefined && existsSync(beside) ? [beside] : []),
    ...(typeof state === 'string' ? [state] : []),
  ];
}

/** What is known when something fails. */
export interface Known {
  /** The call contains something that would destroy data beyond recovery. */
  isDangerous?: boolean;
  call?: HookCall;
  ledger?: HookLedger;
}

/**
 * A hook that failed must not stop its agent, and must not fail unseen: one line goes where a person can find
 * it.
 */
export function noteFailure(
  order: Order,
  around: HookSurroundings,
  known: Known,
  error: unknown,
  now_ms: number,
): void {
  const said = error instanceof Error ? error.message : String(error);
  const line = `${isoTime(now_ms)} ${order.client} ${order.event}: ${oneLine(said, MESSAGE_CHARS_MAX)}\n`;
  for (const folder of foldersFor(storeOf(order, around, known), around.env)) {
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const file = join(folder, FAILURES);
      // The older half is kept for a while; together they stay small.
      if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > BYTES_MAX)
        renameSync(file, join(folder, OLDER_FAILURES));
      appendFileSync(file, line, { mode: 0o600 });
      return;
    } catch {
      // Try the next folder; after the last one there is nowhere left to write.
    }
  }
}

function storeOf(order: Order, around: HookSurroundings, { call, ledger }: Known): string | undefined {
  if (ledger !== undefined) return ledger.store_url;
  try {
    return call === undefined ? undefined : storeUrl(order, workspaceFor(order, call, around), around.env);
  } catch {
    // The store's address itself may be what is wrong.
    return undefined;
  }
}
