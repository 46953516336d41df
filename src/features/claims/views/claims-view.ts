import { isoTime } from '../../../kernel/clock.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { markdownText } from '../../../kernel/markdown.ts';
import type { ViewedClaim } from './claims-read.ts';

const time = (at_ms: number | undefined) => (at_ms === undefined ? undefined : isoTime(at_ms));

/** For programs. The same state gives the same bytes: no clock, no random order. */
export function claimsJson(claims: readonly ViewedClaim[]): string {
  const rows = claims.map(
    ({ written: _, started_at_ms, converged_at_ms, ...claim }): JsonObject => ({
      ...claim,
      started_at: time(started_at_ms),
      converged_at: time(converged_at_ms),
    }),
  );
  return `${JSON.stringify({ version: 1, claims: rows }, undefined, 2)}\n`;
}

/** For people. */
export function statusMarkdown(claims: readonly ViewedClaim[]): string {
  const lines = ['# Status', '', 'Written by Coxswain from the log; changes made here are overwritten.', ''];
  if (claims.length === 0) return `${[...lines, 'Nothing has been claimed yet.'].join('\n')}\n`;
  const features = [...new Set(claims.map(({ feature }) => feature))];
  const converged = claims.filter(({ status }) => status === 'converged').length;
  lines.push(`${features.length} features, ${converged} of ${claims.length} edges converged.`, '');
  lines.push('| feature | edge | status | by | role | iteration | since |', '|---|---|---|---|---|---|---|');
  for (const claim of claims) lines.push(row(claim));
  return `${lines.join('\n')}\n`;
}

function row({ feature, edge, status, agent_id, agent_role, iteration, ...times }: ViewedClaim): string {
  const since = time(times.converged_at_ms ?? times.started_at_ms);
  const cells = [feature, edge, status, agent_id, agent_role, iteration, since];
  return `| ${cells.map((cell) => markdownText(String(cell ?? ''))).join(' | ')} |`;
}
