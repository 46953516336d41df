import { readdirSync, readFileSync } from 'node:fs';
import { isOurLauncher } from './shell-launcher.ts';

/**
 * Which of these files start the commands of a client that runs now: without its launcher Claude Code could run no command, hook or
 * server any more. Whatever a client has started with it, our MCP server for one, has its path in the environment.
 */
export function launchersInUse(paths: readonly string[]): Set<string> {
  const launchers = paths.filter(isOurLauncher);
  const used = new Set<string>();
  if (launchers.length === 0) return used;
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const environment = environmentOf(name);
    for (const path of launchers)
      if (environment.includes(`CLAUDE_CODE_SHELL_PREFIX=${path}\0`)) used.add(path);
  }
  return used;
}

function environmentOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8');
  } catch {
    return ''; // It has ended, or is another user's.
  }
}
