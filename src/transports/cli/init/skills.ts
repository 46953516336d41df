import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WantedFile } from './setup-plan.ts';

const BEGIN = '<!-- coxswain: begin (cox init --skills) -->';
const END = '<!-- coxswain: end -->';

/**
 * How agents learn what the tools are for. The files contain nothing about this machine, so they can be
 * committed.
 */
export function skillFiles(root: string): WantedFile[] {
  const skill = (name: string): WantedFile => ({
    path: join(root, '.claude', 'skills', name, 'SKILL.md'),
    parts: [{ kind: 'file', text: shipped(name) }],
  });
  const lines = shipped('agents').trimEnd().split('\n');
  return [
    skill('coordination'),
    skill('validate-feature'),
    { path: join(root, 'AGENTS.md'), parts: [{ kind: 'block', begin: BEGIN, end: END, lines }] },
  ];
}

function shipped(name: string): string {
  return readFileSync(new URL(`./skills/${name}.md`, import.meta.url), 'utf8');
}
