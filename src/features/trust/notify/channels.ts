import { resolve } from 'node:path';
import { fingerprint } from '../../../kernel/fingerprint.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { type Refusal, refuse } from '../../../kernel/refusal.ts';

/**
 * One way to reach people. It fails by throwing. The error is logged, so it names no address and no secret.
 */
export interface Channel {
  /** Different for different targets: two targets of one kind are two channels, and each is told once. */
  readonly name: string;
  send(notice: JsonObject, signal: AbortSignal): Promise<void>;
}

const VARIABLES = ['COX_NOTIFY_COMMAND', 'COX_NOTIFY_WEBHOOK', 'COX_NOTIFY_FILE'] as const;

/** Answers without loading anything: most installations have no channel. */
export function hasChannels(env: NodeJS.ProcessEnv): boolean {
  return VARIABLES.some((name) => (env[name] ?? '') !== '');
}

/**
 * Where people are notified. Read from the environment alone: write access to the store must not be enough to
 * run a command, or make a request, on another person's machine.
 */
export function readChannels(env: NodeJS.ProcessEnv, cwd: string): Channel[] | Refusal {
  const channels: Channel[] = [];
  const { COX_NOTIFY_COMMAND: command, COX_NOTIFY_WEBHOOK: url, COX_NOTIFY_FILE: file } = env;
  if (command) {
    const words = commandWords(command);
    if (words === undefined)
      return wrong('COX_NOTIFY_COMMAND', 'a program, or a JSON list of a program and its arguments');
    channels.push({
      name: `command:${fingerprint(words.join('\0'))}`,
      send: async (notice, signal) => (await import('./send.ts')).toCommand(words, notice, signal),
    });
  }
  if (url) {
    if (!isWebAddress(url)) return wrong('COX_NOTIFY_WEBHOOK', 'an http or https address');
    const secret = env.COX_NOTIFY_SECRET || undefined;
    channels.push({
      name: `webhook:${fingerprint(url)}`,
      send: async (notice, signal) => (await import('./send.ts')).toWebhook(url, secret, notice, signal),
    });
  }
  if (file) {
    const path = resolve(cwd, file);
    channels.push({
      name: `file:${fingerprint(path)}`,
      send: async (notice) => (await import('./send.ts')).toFile(path, notice),
    });
  }
  return channels;
}

/** No shell is involved: parts of a notice were written by agents. */
function commandWords(text: string): readonly string[] | undefined {
  if (!text.trimStart().startsWith('[')) return [text.trim()];
  try {
    const words = JSON.parse(text) as unknown;
    const isSound =
      Array.isArray(words) &&
      words.length > 0 &&
      words.every((word) => typeof word === 'string' && word !== '');
    return isSound ? (words as string[]) : undefined;
  } catch {
    return undefined;
  }
}

function isWebAddress(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol);
}

function wrong(field: string, expected: string): Refusal {
  return refuse('invalid_input', `${field}: expected ${expected}`, { field, expected });
}
