import { sha256 } from '../../../kernel/hash.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { limits } from '../../../kernel/limits.ts';
import { type Refusal, refuse } from '../../../kernel/refusal.ts';
import type { Step } from '../../../runtime/operation.ts';
import {
  type Contents,
  type Draft,
  type Drafts,
  PlaceProblem,
  PlaceUnusable,
} from '../../../storage/storage-place.ts';
import type { DraftedFile } from '../start-promotion.ts';
import { type DraftPlace, targetOf } from './draft-place.ts';

/** A draft with where it goes and what is there now. */
export interface Drafted extends DraftedFile {
  readonly draft: string;
  readonly contents: Contents;
  readonly before: Uint8Array | undefined;
}

export interface Selection {
  readonly drafted: readonly Drafted[];
  /** As the asset is already. */
  readonly unchanged: readonly string[];
  readonly problems: readonly { readonly path: string; readonly problem: string }[];
  readonly truncated: boolean;
}

/** An agent's drafts, or those of them that are named, each looked at once: what is decided about is what was read here. */
export async function selectDrafts(
  step: Step,
  where: DraftPlace,
  agent_id: string,
  paths?: readonly string[],
): Promise<Selection | Refusal> {
  const listed = await listDrafts(where, agent_id);
  if ('success' in listed) return listed;
  const { drafts, truncated } = listed;
  const named = namedDrafts(drafts, paths);
  if ('success' in named) return named;
  const drafted: Drafted[] = [];
  const unchanged: string[] = [];
  const problems: { path: string; problem: string }[] = [];
  for (const draft of named) {
    const found = await lookAt(step, where, agent_id, draft);
    if (found === undefined) continue;
    if (typeof found === 'string') problems.push({ path: draft.path, problem: found });
    else if ('success' in found) return found;
    else if (found.draft_hash === found.old_hash) unchanged.push(draft.path);
    else drafted.push(found);
  }
  const twice = drafted.filter(({ key }, index) => drafted.findIndex((each) => each.key === key) < index);
  for (const { draft } of twice) problems.push({ path: draft, problem: 'Another draft is the same file.' });
  return { drafted, unchanged, problems, truncated };
}

export async function listDrafts({ place }: DraftPlace, agent_id: string): Promise<Drafts | Refusal> {
  try {
    return await place.drafts(agent_id);
  } catch (error) {
    return unreadable(agent_id, error);
  }
}

function unreadable(agent_id: string, error: unknown): Refusal {
  const code = error instanceof PlaceUnusable ? 'store_unusable' : 'draft_unusable';
  return refuse(code, `The drafts of ${agent_id} can’t be read: ${problemText(error)}`);
}

/** Those that are meant: by their names, or by a folder they are in. */
export function namedDrafts(
  drafts: readonly Draft[],
  paths: readonly string[] | undefined,
): Draft[] | Refusal {
  const unknown = (paths ?? []).find((path) => !drafts.some((draft) => isNamed(draft, path)));
  if (unknown !== undefined)
    return refuse('draft_unusable', `There is no draft ${JSON.stringify(unknown)}.`, { path: unknown });
  return drafts.filter((draft) => paths === undefined || paths.some((path) => isNamed(draft, path)));
}

function isNamed({ path }: Draft, named: string): boolean {
  const [draft, wanted] = [
    path.normalize('NFC'),
    named.normalize('NFC').replace(/^\.\//, '').replace(/\/+$/, ''),
  ];
  return draft === wanted || draft.startsWith(`${wanted}/`);
}

async function lookAt(
  step: Step,
  where: DraftPlace,
  agent_id: string,
  draft: Draft,
): Promise<Drafted | Refusal | string | undefined> {
  if (draft.problem !== undefined) return draft.problem;
  const target = targetOf(step, where, draft.path);
  if (typeof target === 'string') return target;
  try {
    const contents = await where.place.readDraft(agent_id, draft.path);
    if (contents === undefined) return undefined;
    if (contents.bytes.length > limits.draft_bytes_max) return 'It has grown too large.';
    const before = await where.place.readAsset(target.path);
    const old_hash = before === undefined ? null : sha256(before);
    return { ...target, draft: draft.path, contents, before, draft_hash: sha256(contents.bytes), old_hash };
  } catch (error) {
    return error instanceof PlaceUnusable ? unreadable(agent_id, error) : problemText(error);
  }
}

/** What a disk or a place says, without where on this machine it is. */
export function problemText(error: unknown): string {
  if (error instanceof PlaceProblem) return error.message;
  const { code, syscall } = error as NodeJS.ErrnoException;
  return code === undefined
    ? 'It can’t be read or written.'
    : `The disk says ${code}${syscall === undefined ? '' : ` to ${syscall}`}.`;
}

/** Nothing of it was done. */
export function unwritable(what: string, error: unknown): Refusal {
  return refuse(unwritableCode(error), `${what}: ${problemText(error)}`);
}

function unwritableCode(error: unknown): 'store_unusable' | 'disk_full' | 'state_unavailable' {
  if (error instanceof PlaceUnusable) return 'store_unusable';
  return (error as NodeJS.ErrnoException).code === 'ENOSPC' ? 'disk_full' : 'state_unavailable';
}

export function shownProblems({ problems }: Selection): JsonObject[] {
  return problems.map(({ path, problem }) => ({ path, problem }));
}
