import { prefixed } from '../../../ledger/decision.ts';
import type { Step } from '../../../runtime/operation.ts';
import { CLAIM, type ClaimState } from '../edge-claim.ts';

const PAGE = 1000;

/**
 * Every claim of the project, page by page. Each page is read at its own moment, so conclusions from it are
 * only advice.
 */
export async function allClaims(step: Step): Promise<{ claims: ClaimState[]; now_ms: number }> {
  const claims: ClaimState[] = [];
  for (let from = ''; ; ) {
    const range = { ...prefixed('id', CLAIM, '', PAGE), from };
    const { loaded, now_ms } = await step.find({ ranges: [range] });
    const page = loaded.list<ClaimState>(range);
    claims.push(...page.map(({ state }) => state));
    const last = page.at(-1);
    if (page.length < PAGE || last === undefined) return { claims, now_ms };
    from = `${last.id}\u0000`;
  }
}
