import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { claudeCode } from './claude-code.ts';
import type { Client } from './client.ts';
import { codex } from './codex.ts';
import { geminiCli } from './gemini-cli.ts';

export const clients: readonly Client[] = [claudeCode, codex, geminiCli];

/** The installed version; undefined where the client could not be installed. */
export function versionOf(client: Client): string | undefined {
  const file = join(import.meta.dirname, '..', 'node_modules', client.package, 'package.json');
  if (!existsSync(file)) return undefined;
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}

export const installed: readonly Client[] = clients.filter((client) => versionOf(client) !== undefined);
