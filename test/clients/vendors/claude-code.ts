import { anthropic } from '../wires/anthropic.ts';
import type { Client } from './client.ts';

export const claudeCode: Client = {
  name: 'claude-code',
  package: '@anthropic-ai/claude-code',
  program: 'claude',
  wire: anthropic,
  environment: (model_url) => ({
    ANTHROPIC_BASE_URL: model_url,
    ANTHROPIC_API_KEY: 'dummy',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_TELEMETRY: '1',
  }),
  // It does not skip permissions for root, so the tools are allowed by name.
  words: () => [
    '--permission-mode=acceptEdits',
    '--allowedTools=Bash,Edit,Write,mcp__coxswain',
    '-p',
    'Go on.',
  ],
  settle: async () => {},
  list: { words: ['mcp', 'list'], connected: /^coxswain: .* ✔ Connected$/m },
  edit: ({ path, before, after }, place) => [
    { name: 'Read', input: { file_path: place.file(path) } },
    { name: 'Edit', input: { file_path: place.file(path), old_string: before, new_string: after } },
  ],
  shell: (command) => ({ name: 'Bash', input: { command, description: 'As the test says.' } }),
  mcp: (tool, input) => ({ name: `mcp__coxswain__${tool}`, input }),
};
