import { join } from 'node:path';
import type { JsonObject } from '../../../../kernel/json.ts';
import { SERVER_WRITERS } from '../../../hooks/touched.ts';
import { parseTomlText } from '../toml-text.ts';
import { type EventRow, hooksFor, serverCommand, type Wiring } from '../wiring.ts';
import type { AgentClient, ClientFile, Consent, Reader, Site } from './client-setup.ts';
import { type CodexShells, codexHome, codexLauncher, codexShells } from './codex-shells.ts';
import { codexHooksIn } from './codex-trust.ts';

/** Codex allows at most three seconds for the last one. */
const EVENTS: readonly EventRow[] = [
  ['SessionStart', 'session-start', 10],
  ['PreToolUse', 'before-tool', 15, `^(Bash|apply_patch|Edit|Write|mcp__.*_(${SERVER_WRITERS}))$`],
  ['PostToolUse', 'after-tool', 10, '.*'],
  ['Stop', 'turn-end', 10],
  ['SessionEnd', 'session-end', 3],
];

/**
 * Codex starts MCP servers with a small environment and hooks with the full one. Without these variables,
 * hooks and server would be different agents, or use different stores, as soon as one of them is set.
 */
const PASSED_ON = [
  'AGENT_ID',
  'AGENT_TYPE',
  'SESSION_ID',
  'AGENT_CAPABILITIES',
  'COX_STORE',
  'COX_PROJECT',
  'COX_STATE_DIR',
  'POSTGRES_DSN',
  'DB_BACKEND',
  'XDG_STATE_HOME',
];

/**
 * In a worktree Codex reads the hooks of the main checkout, if the worktree has a `.codex` at all, and the
 * worktree's own config.toml.
 */
function hooksFile({ scope, mainRoot, env }: Site): string {
  return join(scope === 'project' ? join(mainRoot, '.codex') : codexHome(env), 'hooks.json');
}

function configFile({ scope, root, env }: Site): string {
  return join(scope === 'project' ? join(root, '.codex') : codexHome(env), 'config.toml');
}

function shellsOf(site: Site, wiring: Wiring): CodexShells {
  return codexShells(site, configFile(site), wiring);
}

export const codex: AgentClient = {
  name: 'codex',
  title: 'Codex',
  program: 'codex',
  spansWorktrees: false,
  home: codexHome,
  files(site, wiring) {
    const own = site.scope === 'project';
    const shells = shellsOf(site, wiring);
    const table = { ...serverCommand(wiring, 'codex'), env_vars: PASSED_ON };
    return [
      {
        path: hooksFile(site),
        parts: [{ kind: 'json-hooks', events: hooksFor('codex', EVENTS, wiring) }],
        local: own,
      },
      {
        path: configFile(site),
        parts: [{ kind: 'toml-server', table }, ...shells.parts],
        local: own,
      },
      ...shells.files,
    ];
  },
  shells: {
    launcher: (site) => codexLauncher(configFile(site)),
    note: (site, wiring) => shellsOf(site, wiring).note,
    // With a socket as its input bash may take itself for a shell of rsh, and reads another file.
    start: (launcher, command) => ({
      words: ['sh', '-c', 'exec bash -c "$0" </dev/null', command],
      env: { BASH_ENV: launcher },
    }),
  },
  consent,
};

/**
 * Folders and hooks for which Codex wants a person's consent; both are recorded in the user's own
 * config.toml.
 */
function consent(sites: readonly Site[], read: Reader): Consent {
  const [site] = sites;
  if (site === undefined) return { files: [], left: undefined };
  const path = join(codexHome(site.env), 'config.toml');
  const { projects = {}, hooks = {} } = parseTomlText(read(path) ?? '', path) as Notes;
  const folders = site.scope === 'user' ? [] : [...new Set(sites.map(({ mainRoot }) => mainRoot))];
  const strange = folders.filter((folder) => projects[folder]?.trust_level !== 'trusted');
  const found = [...new Set(sites.map(hooksFile))].flatMap((file) => codexHooksIn(read(file), file));
  const switchedOff = found.filter(({ key }) => hooks.state?.[key]?.enabled === false);
  const unknown = found.filter(
    ({ key, hash }) =>
      hooks.state?.[key]?.trusted_hash !== hash && !switchedOff.some((off) => off.key === key),
  );
  const parts = [
    // A refusal stays until the person takes it back in the client.
    ...strange
      .filter((folder) => projects[folder] === undefined)
      .map((folder) => ({ at: ['projects', folder], table: { trust_level: 'trusted' } })),
    ...unknown.map(({ key, hash }) => ({ at: ['hooks', 'state', key], table: { trusted_hash: hash } })),
  ].map((part) => ({ kind: 'toml-table', ...part }) as const);
  const steps = [
    ...strange.map((folder) => `start \`codex\` in ${folder} and say that you trust the folder`),
    ...(unknown.length > 0 ? ['type /hooks there and trust them'] : []),
    ...(switchedOff.length > 0 ? ['switch them on again in /hooks'] : []),
  ];
  const file: ClientFile = { path, parts, local: false, mode: 0o600 };
  return {
    files: parts.length === 0 ? [] : [file],
    left:
      steps.length === 0
        ? undefined
        : `does not run the hooks yet, and does not say so: ${steps.join(', then ')}.`,
  };
}

interface Notes extends JsonObject {
  projects?: Record<string, { trust_level?: string }>;
  hooks?: { state?: Record<string, { trusted_hash?: string; enabled?: boolean }> };
}
