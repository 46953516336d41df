import { join } from 'node:path';
import { SERVER_WRITERS } from '../../../hooks/touched.ts';
import { jsonIn } from '../json-text.ts';
import { type EventRow, homeOf, hooksFor, SERVER, serverCommand, type Wiring } from '../wiring.ts';
import { claudeHome, claudePrefix, claudeShells } from './claude-shells.ts';
import type { AgentClient, Site } from './client-setup.ts';

/**
 * Only tools that can change a file are checked before they run. A matcher costs nothing; a process costs 50
 * ms.
 */
const EVENTS: readonly EventRow[] = [
  ['SessionStart', 'session-start', 10],
  [
    'PreToolUse',
    'before-tool',
    15,
    `^(Edit|MultiEdit|Write|NotebookEdit|Bash|PowerShell|mcp__.*_(${SERVER_WRITERS}))$`,
  ],
  ['PostToolUse', 'after-tool', 10, '*'],
  ['PostToolUseFailure', 'after-tool', 10, '*'],
  ['Stop', 'turn-end', 10],
  ['SessionEnd', 'session-end', 10],
];

export function claudeStateFile(env: NodeJS.ProcessEnv): string {
  return join(env.CLAUDE_CONFIG_DIR || homeOf(env), '.claude.json');
}

/**
 * The server is registered where `claude mcp add` puts it: under the project, in the user's own file. It
 * contains paths of this machine. A `.mcp.json` would share those through the repository, and Claude Code
 * would ask to approve it. All worktrees of a repository find the server, and the hooks, under the main
 * worktree.
 */
export const claudeCode: AgentClient = {
  name: 'claude-code',
  title: 'Claude Code',
  program: 'claude',
  spansWorktrees: true,
  home: claudeHome,
  files(site: Site, wiring: Wiring) {
    const { scope, mainRoot, env } = site;
    const own = scope === 'project';
    const value = { type: 'stdio', ...serverCommand(wiring, 'claude-code') };
    const at = own ? ['projects', mainRoot, 'mcpServers', SERVER] : ['mcpServers', SERVER];
    const settings = own
      ? join(mainRoot, '.claude', 'settings.local.json')
      : join(claudeHome(env), 'settings.json');
    const shells = claudeShells(site, wiring);
    return [
      {
        path: settings,
        parts: [{ kind: 'json-hooks', events: hooksFor('claude-code', EVENTS, wiring) }, ...shells.parts],
        local: own,
      },
      ...shells.files,
      { path: claudeStateFile(env), parts: [{ kind: 'json-value', at, value }], local: false, mode: 0o600 },
    ];
  },
  shells: {
    launcher: (site) => claudePrefix(site)?.prefix,
    note: (site, wiring) => claudeShells(site, wiring).note,
    start: (launcher, command) => ({ words: [launcher, command], env: { AI_AGENT: 'claude-code_agent' } }),
  },
  /** Claude Code asks the user by itself, so there is nothing to write. */
  consent([site], read) {
    const path = site === undefined ? undefined : claudeStateFile(site.env);
    const trusts = site !== undefined && path !== undefined && claudeTrust(site, jsonIn(read(path), path));
    return {
      files: [],
      left: trusts === true ? undefined : 'say yes when it asks whether you trust the folder.',
    };
  },
};

/**
 * Whether the folder's hooks run; Claude Code records the person's answer. Undefined: it has not asked yet.
 */
export function claudeTrust(site: Site, state: unknown): boolean | undefined {
  const projects = (state as { projects?: Record<string, { hasTrustDialogAccepted?: boolean }> } | undefined)
    ?.projects;
  return (projects?.[site.root] ?? projects?.[site.mainRoot])?.hasTrustDialogAccepted;
}
