import { nameMatches } from '../../../kernel/glob.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { limits } from '../../../kernel/limits.ts';
import { answerOf, type Range } from '../../../ledger/decision.ts';
import type { Operation, Step } from '../../../runtime/operation.ts';
import {
  type ArtefactRecord,
  type ArtefactState,
  artefactEntity,
  artefactKey,
  artefactsFor,
  artefactsFrom,
  describeArtefact,
  newestArtefacts,
  outlineArtefact,
  type StructuralType,
  versionsOf,
} from '../artefact.ts';
import { type BoardState, boardKey, boardOf } from '../board.ts';
import { type BoardClaimState, boardClaimKey } from '../board-claim.ts';
import { claimIdOf } from '../board-phases.ts';
import { publishArtefact as publish } from '../commands.ts';
import { artefactsById, contextOf, latestOf } from '../context.ts';
import { unknownArtefact } from '../publish-artefact.ts';
import { describeBoardClaim } from '../show-board.ts';

export interface PublishInput {
  type: string;
  payload: string;
  summary?: string | undefined;
  structural_type: StructuralType;
  source_artefacts: string[];
  logical_id?: string | undefined;
}

export const publishArtefact = {
  name: 'publish_artefact',
  group: 'artefact',
  verb: 'publish',
  summary: 'Put an artefact on the board. Everybody on the roster bids on it.',
  route: { method: 'POST', path: '/artefacts/publish' },
  mutates: true,
  proven: true,
  standard: false,
  positional: ['type', 'payload'],
  examples: [
    'cox artefact publish GoalDefined "a page that shows all locks"',
    'cox artefact publish Spec "$(cat spec.md)" --source-artefacts 0192…',
  ],
  sample: { type: 'GoalDefined', payload: 'a page that shows all locks' },
  input: async () => (await import('../schemas.ts')).publishArtefact,
  async handle(input, step) {
    const { source_artefacts, logical_id, ...contents } = input;
    const { agent_id } = step.caller;
    const artefact = { id: step.ids.uuid(), ...contents };
    const role = step.agent_role ?? 'user';
    const command = {
      artefact,
      source_artefacts: [...new Set(source_artefacts)],
      logical_id,
      agent_id,
      role,
    };
    return answerOf(await step.run(publish(command)));
  },
} satisfies Operation<PublishInput>;

export interface GetInput {
  artefact_id: string;
  latest: boolean;
}

export const getArtefact = {
  name: 'get_artefact',
  group: 'artefact',
  verb: 'get',
  summary: 'One artefact with its contents.',
  route: { method: 'POST', path: '/artefacts/get' },
  mutates: false,
  standard: false,
  positional: ['artefact_id'],
  examples: ['cox artefact get 0192…', 'cox artefact get 0192… --latest --json'],
  input: async () => (await import('../schemas.ts')).getArtefact,
  async handle({ artefact_id, latest }, step) {
    const find = step.find.bind(step);
    const [artefact] = await (latest ? latestOf([artefact_id], find) : artefactsById([artefact_id], find));
    if (artefact === undefined) return unknownArtefact(artefact_id);
    return { success: true, artefact: describeArtefact(artefact) };
  },
} satisfies Operation<GetInput>;

export interface ListArtefactsInput {
  type?: string | undefined;
  role?: string | undefined;
  agent?: string | undefined;
  structural_type?: StructuralType | undefined;
  logical_id?: string | undefined;
  claim_id?: string | undefined;
  limit: number;
  cursor?: string | undefined;
}

export const listArtefacts = {
  name: 'list_artefacts',
  group: 'artefact',
  verb: 'list',
  summary: 'Artefacts on the board, newest first; filtered by patterns of type, role and agent.',
  route: { method: 'POST', path: '/artefacts/list' },
  mutates: false,
  standard: false,
  positional: ['type'],
  examples: ["cox artefact list 'Code*'", 'cox artefact list --role Reviewer --limit 5'],
  sample: { type: 'Code*' },
  input: async () => (await import('../schemas.ts')).listArtefacts,
  async handle(input, step) {
    const { limit } = input;
    const range = rangeOf(input);
    const { loaded } = await step.find({ ranges: [range] });
    const found = loaded.list<ArtefactState>(range);
    const after = afterCursor(found, input.cursor);
    const fitting = after.filter(({ state }) => fits(state, input));
    const page = fitting.slice(0, limit);
    // More matches may follow after the records that were read.
    const last =
      page.length < fitting.length ? page.at(-1) : found.length < range.limit ? undefined : after.at(-1);
    return {
      success: true,
      artefacts: page.map(outlineArtefact),
      next_cursor: last === undefined ? null : cursorOf(last),
    };
  },
} satisfies Operation<ListArtefactsInput>;

function rangeOf({ logical_id, claim_id, cursor }: ListArtefactsInput): Range {
  if (logical_id !== undefined) return versionsOf(logical_id);
  if (claim_id !== undefined) return artefactsFor(claim_id);
  return newestArtefacts(limits.range_rows_max, cursor?.split('/')[0]);
}

function fits(
  { type, produced_by_role, produced_by_agent, structural_type }: ArtefactState,
  input: ListArtefactsInput,
) {
  const matches = (pattern: string | undefined, name: string) =>
    pattern === undefined || nameMatches(pattern, name);
  return (
    matches(input.type, type) &&
    matches(input.role, produced_by_role) &&
    matches(input.agent, produced_by_agent) &&
    (input.structural_type === undefined || input.structural_type === structural_type)
  );
}

/** Its position in the index: by time, and by id for artefacts of the same time. */
function cursorOf({ id, state }: ArtefactRecord): string {
  return `${artefactEntity.index(state, id).sort}/${id}`;
}

function afterCursor(
  found: readonly ArtefactRecord[],
  cursor: string | undefined,
): readonly ArtefactRecord[] {
  const at = found.findIndex((record) => cursorOf(record) === cursor);
  return found.slice(at + 1);
}

export const artefactLineage = {
  name: 'artefact_lineage',
  group: 'artefact',
  verb: 'lineage',
  summary:
    'Where an artefact came from and what came of it: sources, versions, its claim, what was made from it.',
  route: { method: 'POST', path: '/artefacts/lineage' },
  mutates: false,
  standard: false,
  positional: ['artefact_id'],
  examples: ['cox artefact lineage 0192…'],
  input: async () => (await import('../schemas.ts')).artefactLineage,
  async handle({ artefact_id }, step) {
    const { loaded } = await step.find({ keys: [artefactKey(artefact_id)] });
    const artefact = loaded.get<ArtefactState>(artefactKey(artefact_id));
    if (artefact === undefined) return unknownArtefact(artefact_id);
    return { success: true, ...(await storyOf(artefact, step)) };
  },
} satisfies Operation<{ artefact_id: string }>;

async function storyOf(artefact: ArtefactRecord, step: Step): Promise<JsonObject> {
  const versions = versionsOf(artefact.state.logical_id);
  const descendants = artefactsFrom(artefact.id, limits.artefacts_listed_max);
  const claimKeys = [claimIdOf(artefact.id), artefact.state.claim_id].flatMap((id) =>
    id === undefined ? [] : [boardClaimKey(id)],
  );
  const ranges = [versions, descendants];
  const { loaded, now_ms } = await step.find({ keys: [boardKey, ...claimKeys], ranges });
  const board = boardOf(loaded.get<BoardState>(boardKey));
  const claims = claimKeys.map((key) => {
    const record = loaded.get<BoardClaimState>(key);
    return record === undefined ? null : describeBoardClaim(record, board, now_ms);
  });
  const context = await contextOf(artefact, [], step.find.bind(step));
  return {
    artefact: describeArtefact(artefact),
    /** The claim it was made for. */
    made_for: claims[1] ?? null,
    claim: claims[0] ?? null,
    versions: loaded.list<ArtefactState>(versions).map(outlineArtefact),
    context: context.artefacts.map(outlineArtefact),
    context_truncated: context.truncated,
    descendants: loaded.list<ArtefactState>(descendants).map(outlineArtefact),
  };
}
