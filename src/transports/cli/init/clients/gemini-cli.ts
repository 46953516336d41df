import { join } from 'node:path';
import { SERVER_WRITERS } from '../../../hooks/touched.ts';
import { type EventRow, hooksFor, SERVER, serverCommand } from '../wiring.ts';
import type { AgentClient } from './client-setup.ts';
import { geminiHome, geminiTrust, trustedFoldersFile } from './gemini-trust.ts';

const EVENTS: readonly EventRow[] = [
  ['SessionStart', 'session-start', 10_000],
  [
    'BeforeTool',
    'before-tool',
    15_000,
    `^(write_file|replace|run_shell_command|mcp_.*_(${SERVER_WRITERS}))$`,
  ],
  ['AfterTool', 'after-tool', 10_000, '*'],
  ['AfterAgent', 'turn-end', 10_000],
  ['SessionEnd', 'session-end', 10_000],
];

export const geminiCli: AgentClient = {
  name: 'gemini-cli',
  title: 'Gemini CLI',
  program: 'gemini',
  spansWorktrees: false,
  caveat:
    'Gemini CLI reads only the folder it is started in: start it at the top of the repository, or use --scope user.',
  home: geminiHome,
  files({ scope, root, env }, wiring) {
    const own = scope === 'project';
    const path = own ? join(root, '.gemini', 'settings.json') : join(geminiHome(env), 'settings.json');
    const value = serverCommand(wiring, 'gemini-cli');
    return [
      {
        path,
        parts: [
          { kind: 'json-value', at: ['mcpServers', SERVER], value: { ...value } },
          { kind: 'json-hooks', events: hooksFor('gemini-cli', EVENTS, wiring, { name: SERVER }) },
        ],
        local: own,
      },
    ];
  },
  consent(sites, read) {
    const trust = Map.groupBy(sites, ({ root, env }) => geminiTrust(root, env, read));
    const { unasked = [], refused = [] } = Object.fromEntries(trust);
    const open = [...unasked, ...refused].map(({ root }) => root);
    if (open.length === 0) return { files: [], left: undefined };
    const how = refused.length > 0 ? '/permissions' : 'say that you trust the folder, or /permissions';
    return {
      // A refusal stays until the person takes it back in the client.
      files: unasked.map(({ root, env }) => ({
        path: trustedFoldersFile(env),
        parts: [{ kind: 'json-value', at: [root], value: 'TRUST_FOLDER', ifSame: true }],
        local: false,
        mode: 0o600,
      })),
      left: `starts no hook and no server in ${open.join(', ')} yet, and does not say so: start \`gemini\` there, ${how}.`,
    };
  },
};
