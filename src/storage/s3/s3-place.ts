import { systemClock } from '../../kernel/clock.ts';
import { sha256 } from '../../kernel/hash.ts';
import { limits } from '../../kernel/limits.ts';
import { showS3 } from '../../kernel/s3-address.ts';
import { agentFolder } from '../agent-folder.ts';
import {
  type AssetPlace,
  type Contents,
  type Draft,
  type Drafts,
  PlaceProblem,
  PlaceUnusable,
  type Publication,
  type Published,
  type Staging,
} from '../storage-place.ts';
import type { Bucket, StoredObject } from './bucket.ts';
import { draftOf, isKeyPath, keyBelow } from './s3-keys.ts';

export interface S3PlaceOptions {
  readonly bucket: Bucket;
  /** For people to read. */
  readonly name: string;
  /** Empty, or ending with a slash. */
  readonly prefix: string;
  /** `agents/{agent_id}/NAME`, below the prefix. */
  readonly drafts_path_template: string;
  readonly scratch_path_template: string;
}

/**
 * In each round another process has made progress, or two writes have collided; this many rounds mean a
 * fault.
 */
const ROUNDS_MAX = 10;
const BUSY_PAUSE_MS = 50;
/** How many requests of one call run at the same time. */
const LANES = 8;
const NO_SUCH_VERSION = '"no-such-version"';

/**
 * Drafts and assets in a bucket. An asset is replaced by one conditional write: only if it is still the
 * object that was looked at; a new one only if there is none. Nothing is ever written beside it.
 */
export class S3Place implements AssetPlace {
  readonly #options: S3PlaceOptions;
  readonly #bucket: Bucket;
  #conditionsTried = false;

  constructor(options: S3PlaceOptions) {
    this.#options = options;
    this.#bucket = options.bucket;
  }

  #below(template: string, agent_id: string): string {
    return `${this.#options.prefix}${template.replaceAll('{agent_id}', () => agentFolder(agent_id))}/`;
  }

  #drafts(agent_id: string): string {
    return this.#below(this.#options.drafts_path_template, agent_id);
  }

  #asset(path: string): string {
    return keyBelow(`${this.#options.prefix}assets/`, path);
  }

  #promoting(agent_id: string): string {
    return this.#below('agents/{agent_id}/promoting', agent_id);
  }

  #staged({ agent_id, promotion_id }: Staging): string {
    return `${keyBelow(this.#promoting(agent_id), promotion_id)}/`;
  }

  draftsOf(agent_id: string): string {
    return showS3({ bucket: this.#options.name, prefix: this.#drafts(agent_id) });
  }

  scratchOf(agent_id: string): string {
    const prefix = this.#below(this.#options.scratch_path_template, agent_id);
    return showS3({ bucket: this.#options.name, prefix });
  }

  async drafts(agent_id: string): Promise<Drafts> {
    const folder = this.#drafts(agent_id);
    const drafts: Draft[] = [];
    let truncated = false;
    for await (const { key, bytes } of this.#bucket.list(folder)) {
      const draft = draftOf(key.slice(folder.length), bytes);
      if (draft === undefined) continue;
      truncated = drafts.length >= limits.drafts_listed_max;
      if (truncated) break;
      drafts.push(draft);
    }
    drafts.sort((a, b) => (a.path < b.path ? -1 : 1));
    return { drafts, truncated };
  }

  async readDraft(agent_id: string, path: string): Promise<Contents | undefined> {
    const found = await this.#bucket.get(keyBelow(this.#drafts(agent_id), path), limits.draft_bytes_max);
    return found === undefined ? undefined : { bytes: found.bytes, executable: isExecutable(found) };
  }

  async discardDrafts(agent_id: string, paths: readonly string[]): Promise<string[]> {
    const folder = this.#drafts(agent_id);
    const removed = new Set<string>();
    // A key that would lead elsewhere if any tool took it for a path is left to the bucket's administrator.
    await inLanes(paths.filter(isKeyPath), async (path) => {
      const key = keyBelow(folder, path);
      if (!(await this.#bucket.has(key))) return;
      await this.#bucket.remove(key);
      removed.add(path);
    });
    return paths.filter((path) => removed.has(path));
  }

  async readAsset(path: string): Promise<Uint8Array | undefined> {
    return (await this.#bucket.get(this.#asset(path), limits.asset_bytes_max))?.bytes;
  }

  async stage(staging: Staging, contents: readonly Contents[]): Promise<void> {
    const folder = this.#staged(staging);
    // Named by their hashes: the log knows no other name for them.
    await inLanes(contents, async ({ bytes, executable }) => {
      const hash = sha256(bytes);
      await this.#bucket.put(`${folder}${hash}`, bytes, { metadata: metadataOf(hash, executable) });
    });
    const [first] = contents;
    if (first !== undefined) await this.#tryConditions(`${folder}${sha256(first.bytes)}`, first);
  }

  /**
   * A service that ignores conditions would let one promotion overwrite what another has just written. This
   * detects such a service, with contents that may be written twice, before the first asset changes.
   */
  async #tryConditions(key: string, { bytes, executable }: Contents): Promise<void> {
    if (this.#conditionsTried) return;
    const metadata = metadataOf(sha256(bytes), executable);
    for (const replaces of [null, NO_SUCH_VERSION])
      if ((await this.#bucket.put(key, bytes, { metadata, replaces })) === 'written')
        throw new PlaceUnusable(
          `Bucket ${this.#options.name}: the service takes no notice of If-Match and If-None-Match, without which nothing is promoted.`,
        );
    this.#conditionsTried = true;
  }

  async isStaged(staging: Staging): Promise<boolean> {
    for await (const _ of this.#bucket.list(this.#staged(staging))) return true;
    return false;
  }

  async publish(staging: Staging, { path, draft_hash, old_hash }: Publication): Promise<Published> {
    const asset = this.#asset(path);
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      const before = await this.#bucket.get(asset, limits.asset_bytes_max);
      const now = before === undefined ? null : sha256(before.bytes);
      if (now === draft_hash) return 'published';
      if (now !== old_hash) return 'conflict';
      // The last read: a process that has finished the promotion meanwhile has removed the staged contents,
      // and then nothing is written.
      const staged = await this.#bucket.get(`${this.#staged(staging)}${draft_hash}`, limits.draft_bytes_max);
      if (staged === undefined || sha256(staged.bytes) !== draft_hash)
        return (await this.#hashOf(asset)) === draft_hash ? 'published' : 'lost';
      const written = await this.#bucket.put(asset, staged.bytes, {
        ...keptOf(before, staged, draft_hash),
        replaces: before?.etag ?? null,
      });
      if (written === 'written') return 'published';
      // `refused` may also mean that our earlier attempt succeeded and its answer was lost: the next round
      // tells.
      if (written === 'busy') await systemClock.sleep(BUSY_PAUSE_MS * (round + 1));
    }
    throw new PlaceProblem(`${JSON.stringify(path)} changes too often to be replaced.`);
  }

  async #hashOf(asset: string): Promise<string | null> {
    const found = await this.#bucket.get(asset, limits.asset_bytes_max);
    return found === undefined ? null : sha256(found.bytes);
  }

  /** Nothing lies beside an asset. */
  async settle(): Promise<void> {}

  async unstage(staging: Staging): Promise<void> {
    const keys: string[] = [];
    for await (const { key } of this.#bucket.list(this.#staged(staging))) keys.push(key);
    await inLanes(keys, (key) => this.#bucket.remove(key));
  }

  async stagedBefore(agent_id: string, before_ms: number): Promise<string[]> {
    const folder = this.#promoting(agent_id);
    const newest = new Map<string, number>();
    for await (const { key, modified_ms } of this.#bucket.list(folder)) {
      const [id = ''] = key.slice(folder.length).split('/');
      if (isKeyPath(id)) newest.set(id, Math.max(modified_ms, newest.get(id) ?? 0));
    }
    return [...newest].filter(([, modified_ms]) => modified_ms < before_ms).map(([id]) => id);
  }
}

function metadataOf(sha256: string, executable: boolean): Record<string, string> {
  return { sha256, executable: String(executable) };
}

function isExecutable({ metadata }: StoredObject): boolean {
  return metadata.executable === 'true';
}

/**
 * An asset keeps its metadata, except what describes its contents; a new one is as executable as its draft.
 */
function keptOf(before: StoredObject | undefined, staged: StoredObject, draft_hash: string) {
  const executable = isExecutable(before ?? staged);
  return {
    metadata: { ...before?.metadata, ...metadataOf(draft_hash, executable) },
    content_type: before?.content_type,
  };
}

async function inLanes<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = [...items];
  const lane = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
  };
  // All lanes have stopped before the caller cleans up after the one that failed.
  const lanes = await Promise.allSettled(Array.from({ length: Math.min(LANES, items.length) }, lane));
  const failed = lanes.find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
}
