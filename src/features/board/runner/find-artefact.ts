import { isoTime } from '../../../kernel/clock.ts';
import { limits } from '../../../kernel/limits.ts';
import { type Refusal, refuse } from '../../../kernel/refusal.ts';
import { prefixed } from '../../../ledger/decision.ts';
import { invalid } from '../../../runtime/answer.ts';
import type { Coxswain } from '../../../runtime/coxswain.ts';
import { type ArtefactState, newestArtefacts } from '../artefact.ts';
import type { BoardClaimState } from '../board-claim.ts';
import { claimIdOf } from '../board-phases.ts';
import { unknownArtefact } from '../publish-artefact.ts';

const CHARS_MIN = 6;
const SHOWN_MAX = 10;
const ID = /^[\da-f][\da-f-]{5,35}$/;

/**
 * Finds an artefact by its id, the beginning of the id, or its end, as the screens show it. A claim's id
 * stands for the artefact of the claim.
 */
export async function findArtefact({ store, project }: Coxswain, given: string): Promise<string | Refusal> {
  const word = given
    .trim()
    .toLowerCase()
    .replace(/^(…|\.\.\.)/, '');
  const isEnd = word !== given.trim().toLowerCase();
  if (!ID.test(word))
    return invalid('id', `an id, ${CHARS_MIN} or more characters of its beginning, or its end`);
  const own = prefixed('id', 'artefact', word, SHOWN_MAX + 1);
  const claims = prefixed('id', 'board_claim', word, SHOWN_MAX + 1);
  const { loaded } = await store.find(project, { ranges: [own, claims] });
  const begins = isEnd
    ? []
    : [
        ...loaded.list<ArtefactState>(own).map(({ id }) => id),
        ...loaded.list<BoardClaimState>(claims).map(({ state }) => state.artefact_id),
      ];
  const found = new Set(begins.length > 0 ? begins : await endingIn(word, { store, project }));
  const [only] = found;
  if (only === undefined) return unknownArtefact(given.trim());
  return found.size === 1 ? only : await ambiguous(word, [...found], { store, project });
}

/** Ids begin with the time, which is the same for all ids of one hour. So people are shown the end. */
async function endingIn(
  word: string,
  { store, project }: Pick<Coxswain, 'store' | 'project'>,
): Promise<string[]> {
  const newest = newestArtefacts(limits.range_rows_max);
  const { loaded } = await store.find(project, { ranges: [newest] });
  return loaded
    .list<ArtefactState>(newest)
    .filter(({ id }) => id.endsWith(word) || claimIdOf(id).endsWith(word))
    .map(({ id }) => id);
}

async function ambiguous(
  word: string,
  ids: readonly string[],
  { store, project }: Pick<Coxswain, 'store' | 'project'>,
): Promise<Refusal> {
  const keys = ids.slice(0, SHOWN_MAX).map((id) => ({ kind: 'artefact', id }));
  const { loaded } = await store.find(project, { keys });
  const candidates = keys.flatMap((key) => {
    const state = loaded.get<ArtefactState>(key)?.state;
    if (state === undefined) return [];
    const { type, produced_by_agent, created_at_ms } = state;
    return [{ id: key.id, type, produced_by_agent, created_at: isoTime(created_at_ms) }];
  });
  const many = ids.length > SHOWN_MAX ? `more than ${SHOWN_MAX}` : String(ids.length);
  return refuse('invalid_input', `id: ${word} is not enough: ${many} artefacts are called so.`, {
    field: 'id',
    candidates,
  });
}
