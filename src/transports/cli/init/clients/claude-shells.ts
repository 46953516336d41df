import { join } from 'node:path';
import { readBytes } from '../changes.ts';
import { jsonIn } from '../json-text.ts';
import type { Part } from '../setup-parts.ts';
import { isOurLauncher, type Launcher, launcherFor } from '../shell-launcher.ts';
import { Unusable } from '../unusable.ts';
import { homeOf, type Wiring } from '../wiring.ts';
import type { Site } from './client-setup.ts';

/** Claude Code starts each shell command with this program and gives it the command as one word. */
const PREFIX = 'CLAUDE_CODE_SHELL_PREFIX';

export function claudeHome(env: NodeJS.ProcessEnv): string {
  return env.CLAUDE_CONFIG_DIR || join(homeOf(env), '.claude');
}

export interface ClaudeShells {
  readonly parts: readonly Part[];
  readonly files: readonly Launcher[];
  readonly note?: string;
}

const LEFT: ClaudeShells = { parts: [], files: [] };

/** How Claude Code's shell commands are protected: a prefix that the user has set stays. */
export function claudeShells(site: Site, wiring: Wiring): ClaudeShells {
  const { shells, locks } = wiring;
  if (shells === undefined) return LEFT;
  const { prefix, where } = claudePrefix(site) ?? {};
  const isOurs = isOurLauncher(prefix);
  if (prefix !== undefined && !isOurs)
    return {
      ...LEFT,
      note: `Claude Code's shell commands are not protected by the kernel: ${where} sets ${PREFIX} already (${prefix}), and that stays. Start it with \`cox run claude\` instead.`,
    };
  if (locks === 'warn' && !isOurs) return LEFT;
  const launcher = launcherFor(
    'claude-code',
    shells,
    site.scope === 'user' ? 'user' : site.repository,
    wiring,
  );
  // It takes what follows a dash for arguments.
  if (/\s-/.test(launcher.path))
    return {
      ...LEFT,
      note: `Claude Code's shell commands are not protected by the kernel: it can't start ${launcher.path}. Set COX_STATE_DIR to another folder.`,
    };
  return {
    parts: [{ kind: 'json-value', at: ['env', PREFIX], value: launcher.path, ifSame: true }],
    files: [launcher],
  };
}

/** The prefix that Claude Code would use in this folder: the first of these that has one counts. */
export function claudePrefix({ mainRoot, env }: Site): { prefix: string; where: string } | undefined {
  const files = [
    join(mainRoot, '.claude', 'settings.local.json'),
    join(mainRoot, '.claude', 'settings.json'),
    join(claudeHome(env), 'settings.json'),
  ];
  for (const where of files) {
    const prefix = settingsEnv(where)?.[PREFIX];
    if (typeof prefix === 'string' && prefix !== '') return { prefix, where };
  }
  const prefix = env[PREFIX];
  return prefix === undefined || prefix === '' ? undefined : { prefix, where: 'the environment' };
}

/** A file that can't be read is told of by the part of `cox init` that edits it. */
function settingsEnv(path: string): Record<string, unknown> | undefined {
  try {
    return jsonIn(readBytes(path)?.toString('utf8'), path)?.env as Record<string, unknown> | undefined;
  } catch (error) {
    if (error instanceof Unusable) return undefined;
    throw error;
  }
}
