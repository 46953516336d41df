import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gemini } from '../wires/gemini.ts';
import type { Client } from './client.ts';

export const geminiCli: Client = {
  name: 'gemini-cli',
  package: '@google/gemini-cli',
  program: 'gemini',
  wire: gemini,
  environment: (model_url) => ({ GEMINI_API_KEY: 'dummy', GOOGLE_GEMINI_BASE_URL: model_url }),
  words: () => ['-m', 'gemini-2.5-flash', '--approval-mode', 'yolo', '-p', 'Go on.'],
  async settle({ home }) {
    const folder = join(home, '.gemini');
    const settings = {
      security: { auth: { selectedType: 'gemini-api-key' } },
      privacy: { usageStatisticsEnabled: false },
    };
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'settings.json'), JSON.stringify(settings));
  },
  list: { words: ['mcp', 'list'], connected: /coxswain: .* Connected/ },
  edit: ({ path, before, after }) => [
    {
      name: 'replace',
      input: { file_path: path, instruction: 'As the test says.', old_string: before, new_string: after },
    },
  ],
  shell: (command) => ({ name: 'run_shell_command', input: { command, description: 'As the test says.' } }),
  mcp: (tool, input) => ({ name: `mcp_coxswain_${tool}`, input }),
};
