import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { claudeCode } from './claude-code.ts';
import type { AgentClient } from './client-setup.ts';
import { codex } from './codex.ts';
import { geminiCli } from './gemini-cli.ts';

const clients: readonly AgentClient[] = [claudeCode, codex, geminiCli];

export interface FoundClient {
  readonly client: AgentClient;
  /** The path of its program, if it is on the PATH. */
  readonly program: string | undefined;
  /** It has been used on this machine: its folder exists. */
  readonly used: boolean;
}

export function findClients(env: NodeJS.ProcessEnv): FoundClient[] {
  return clients.map((client) => ({
    client,
    program: onPath(client.program, env),
    used: statSync(client.home(env), { throwIfNoEntry: false })?.isDirectory() === true,
  }));
}

function onPath(name: string, env: NodeJS.ProcessEnv): string | undefined {
  const endings = process.platform === 'win32' ? ['.exe', '.cmd', ''] : [''];
  for (const folder of (env.PATH ?? '').split(delimiter).filter((each) => each !== ''))
    for (const ending of endings) {
      const path = join(folder, name + ending);
      try {
        accessSync(path, constants.X_OK);
        if (statSync(path).isFile()) return path;
      } catch {}
    }
  return undefined;
}
