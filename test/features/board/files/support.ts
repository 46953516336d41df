import assert from 'node:assert/strict';
import type { AgentConfig, BoardConfig } from '../../../../src/features/board/files/agent-config.ts';
import { type BoardOptions, parseBoard } from '../../../../src/features/board/files/board-file.ts';
import type { FileProblem } from '../../../../src/storage/file-problem.ts';

export type Given = Partial<BoardOptions>;

const usual: BoardOptions = {
  env: {},
  repository: true,
  areaOf: (path) => (path.startsWith('../') ? 'outside' : { place: path }),
};

export function parse(text: string, given: Given = {}) {
  return parseBoard(text, 'cox.yml', '/project', { ...usual, ...given });
}

function show({ line, field, reason }: FileProblem): string {
  return `${line} ${field}: ${reason}`;
}

export function board(text: string, given?: Given): BoardConfig {
  const parsed = parse(text, given);
  assert.ok(parsed.ok, JSON.stringify(parsed));
  return parsed.config;
}

export function agent(fields: string, given?: Given): AgentConfig {
  const [only] = board(`agents: { a: { ${fields} } }`, given).agents;
  assert.ok(only);
  return only;
}

export function problems(text: string, given?: Given): string[] {
  const parsed = parse(text, given);
  assert.ok(!parsed.ok, 'it was taken');
  return parsed.problems.map(show);
}

export function warnings(text: string, given?: Given): string[] {
  const parsed = parse(text, given);
  assert.ok(parsed.ok, JSON.stringify(parsed));
  return parsed.warnings.map(show);
}
