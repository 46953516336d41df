import { openai } from '../wires/openai.ts';
import type { Client } from './client.ts';

/** Codex offers a model the tools it knows how to use: this one edits with `apply_patch`. */
const MODEL = 'gpt-5.5';

export const codex: Client = {
  name: 'codex',
  package: '@openai/codex',
  program: 'codex',
  wire: openai,
  environment: () => ({ OPENAI_API_KEY: 'dummy' }),
  words: (model_url) => wordsFor(MODEL, model_url),
  settle: async () => {},
  // It lists what it is told and connects at the first turn.
  list: { words: ['mcp', 'list'], connected: /^coxswain .* enabled /m },
  edit: ({ path, before, after }) => [{ name: 'apply_patch', input: patch(path, before, after) }],
  shell: (command) => ({ name: 'exec_command', input: { cmd: command } }),
  mcp: (tool, input) => ({ name: tool, namespace: 'mcp__coxswain', input }),
};

/** The newest models have one tool, in which they write programs that call the others. */
export const codexInPrograms: Client = {
  ...codex,
  words: (model_url) => wordsFor('gpt-6.1-sol', model_url),
  edit: ({ path, before, after }) => [program('apply_patch', patch(path, before, after))],
  shell: (command) => program('exec_command', { cmd: command }),
  mcp: (tool, input) => program(`mcp__coxswain__${tool}`, input),
};

function wordsFor(model: string, model_url: string): string[] {
  const provider = `{ name = "stand-in", base_url = "${model_url}/v1", wire_api = "responses", env_key = "OPENAI_API_KEY" }`;
  const settings = [`model="${model}"`, 'model_provider="stand_in"', `model_providers.stand_in=${provider}`];
  return ['exec', ...settings.flatMap((each) => ['-c', each]), '-s', 'danger-full-access', 'Go on.'];
}

function patch(path: string, before: string, after: string): string {
  return `*** Begin Patch\n*** Update File: ${path}\n@@\n-${before}\n+${after}\n*** End Patch\n`;
}

function program(tool: string, input: unknown) {
  const call = `tools.${tool}(${JSON.stringify(input)})`;
  const said = '(error) => ({ failed: String(error) })';
  return { name: 'exec', namespace: 'functions', input: `text(await ${call}.catch(${said}));` };
}
