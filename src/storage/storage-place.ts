/** A draft as a listing shows it. */
export interface Draft {
  /** As it lies there, with slashes, from the drafts folder. */
  readonly path: string;
  readonly bytes: number;
  /** Why it can't be promoted: a link, a pipe, too large. */
  readonly problem?: string | undefined;
}

export interface Drafts {
  readonly drafts: readonly Draft[];
  /** There are more than a listing shows. */
  readonly truncated: boolean;
}

export interface Contents {
  readonly bytes: Uint8Array;
  readonly executable: boolean;
}

/** Contents on their way; they are kept aside under this name until their promotion has ended. */
export interface Staging {
  readonly agent_id: string;
  readonly promotion_id: string;
}

export interface Publication {
  /** From the top of the repository. */
  readonly path: string;
  readonly draft_hash: string;
  /** Of the asset as it may be replaced; null: there must be none. */
  readonly old_hash: string | null;
}

/**
 * `published`: the asset is the new one, by whomever. `conflict`: it is neither the old nor the new one, and stays as it is.
 * `lost`: it is still the old one, and what was to replace it is gone.
 */
export type Published = 'published' | 'conflict' | 'lost';

/** Why a place cannot do what was asked of it, in words for whoever asked. */
export class PlaceProblem extends Error {
  override readonly name: string = 'PlaceProblem';
}

/** The place as a whole, not one file in it: no bucket, no rights, no way there. */
export class PlaceUnusable extends PlaceProblem {
  override readonly name = 'PlaceUnusable';
}

/**
 * Where agents draft and where the shared assets are: a folder, or a bucket. Each agent drafts apart from all others, and an
 * asset changes in one step from old to new, or not at all.
 */
export interface AssetPlace {
  /** Where this agent drafts, for people and agents to read. */
  draftsOf(agent_id: string): string;
  /** For whatever nobody else is ever to see; nothing in it is looked at. */
  scratchOf(agent_id: string): string;
  drafts(agent_id: string): Promise<Drafts>;
  readDraft(agent_id: string, path: string): Promise<Contents | undefined>;
  /** Answers those that were there. */
  discardDrafts(agent_id: string, paths: readonly string[]): Promise<string[]>;
  readAsset(path: string): Promise<Uint8Array | undefined>;
  /** Lasting once it returns: the drafts themselves may change or go at any time. */
  stage(staging: Staging, contents: readonly Contents[]): Promise<void>;
  isStaged(staging: Staging): Promise<boolean>;
  publish(staging: Staging, file: Publication): Promise<Published>;
  /** Nothing of it is left beside the assets: whoever was stopped amid publishing finds nothing to go on with. */
  settle(staging: Staging, paths: readonly string[]): Promise<void>;
  unstage(staging: Staging): Promise<void>;
  /** What was staged and never started: the ids of an agent's that are older than that. */
  stagedBefore(agent_id: string, before_ms: number): Promise<string[]>;
}
