/** A draft as a listing shows it. */
export interface Draft {
  /** Its path relative to the drafts folder, with slashes. */
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

/** Contents to be published; they are kept aside under this name until their promotion has ended. */
export interface Staging {
  readonly agent_id: string;
  readonly promotion_id: string;
}

export interface Publication {
  /** Relative to the top of the repository. */
  readonly path: string;
  readonly draft_hash: string;
  /** Hash of the asset that may be replaced; null: there must be none. */
  readonly old_hash: string | null;
}

/**
 * `published`: the asset has the new contents, whichever process wrote them. `conflict`: it has neither the
 * old nor the new contents, and stays as it is. `lost`: it still has the old contents, and the new ones are
 * gone.
 */
export type Published = 'published' | 'conflict' | 'lost';

/** Why a place cannot do what was asked, in words for the caller. */
export class PlaceProblem extends Error {
  override readonly name: string = 'PlaceProblem';
}

/** The problem is with the whole place, not with one file: no bucket, no permission, no connection. */
export class PlaceUnusable extends PlaceProblem {
  override readonly name = 'PlaceUnusable';
}

/**
 * Where agents write drafts and where the shared assets are: a folder, or a bucket. Each agent's drafts are
 * separate from those of all other agents, and an asset changes in one step from old to new, or not at all.
 */
export interface AssetPlace {
  /** Where this agent writes drafts, as a text for people and agents. */
  draftsOf(agent_id: string): string;
  /** For an agent's private files; nothing in it is ever read. */
  scratchOf(agent_id: string): string;
  drafts(agent_id: string): Promise<Drafts>;
  readDraft(agent_id: string, path: string): Promise<Contents | undefined>;
  /** Returns the paths that existed. */
  discardDrafts(agent_id: string, paths: readonly string[]): Promise<string[]>;
  readAsset(path: string): Promise<Uint8Array | undefined>;
  /** Durable once it returns: the drafts themselves may change or disappear at any time. */
  stage(staging: Staging, contents: readonly Contents[]): Promise<void>;
  isStaged(staging: Staging): Promise<boolean>;
  publish(staging: Staging, file: Publication): Promise<Published>;
  /**
   * Removes everything left beside the assets: a process that was stopped while publishing finds nothing to
   * go on with.
   */
  settle(staging: Staging, paths: readonly string[]): Promise<void>;
  unstage(staging: Staging): Promise<void>;
  /** The ids of an agent's contents that were staged before that time and never promoted. */
  stagedBefore(agent_id: string, before_ms: number): Promise<string[]>;
}
