import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { S3StandIn } from '../../support/s3.ts';

const PLACES = ['folder', 's3'] as const;
export type PlaceKind = (typeof PLACES)[number];

/** A test for each kind of place: what it says holds wherever drafts and assets are. */
export function everywhere(title: string, run: (kind: PlaceKind) => Promise<void>): void {
  for (const kind of PLACES) test(`${title} (${kind})`, () => run(kind));
}

/** Where drafts and assets lie, as their writer sees it. */
export interface Ground {
  /** `COX_ASSETS`. */
  readonly assets?: string | undefined;
  write(path: string, text: string): void;
  read(path: string): string | undefined;
  draft(agent_id: string, path: string, text: string): void;
  readDraft(agent_id: string, path: string): string | undefined;
  /** How an agent is told where its drafts are. */
  shown(agent_id: string, part: 'drafts' | 'scratch'): string;
  hasStaged(agent_id: string): boolean;
  setExecutable(path: string): void;
  isExecutable(path: string): boolean;
  close(): Promise<void>;
}

const FLEET = '.ai-workspace';

export class FolderGround implements Ground {
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(join(this.#root, path)), { recursive: true });
    writeFileSync(join(this.#root, path), text);
  }

  read(path: string): string | undefined {
    const file = join(this.#root, path);
    return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  }

  draft(agent_id: string, path: string, text: string): void {
    this.write(join(FLEET, 'agents', agent_id, 'drafts', path), text);
  }

  readDraft(agent_id: string, path: string): string | undefined {
    return this.read(join(FLEET, 'agents', agent_id, 'drafts', path));
  }

  shown(agent_id: string, part: string): string {
    return `${FLEET}/agents/${agent_id}/${part}`;
  }

  hasStaged(agent_id: string): boolean {
    return existsSync(join(this.#root, FLEET, 'agents', agent_id, 'promoting'));
  }

  setExecutable(path: string): void {
    chmodSync(join(this.#root, path), 0o755);
  }

  isExecutable(path: string): boolean {
    return (statSync(join(this.#root, path)).mode & 0o777) === 0o755;
  }

  async close(): Promise<void> {}
}

export class BucketGround implements Ground {
  readonly s3: S3StandIn;

  constructor(s3: S3StandIn) {
    this.s3 = s3;
  }

  static async open(): Promise<BucketGround> {
    return new BucketGround(await S3StandIn.open());
  }

  get assets(): string {
    return this.s3.address('fleet');
  }

  write(path: string, text: string): void {
    this.s3.put(`fleet/assets/${path}`, text);
  }

  read(path: string): string | undefined {
    return this.s3.text(`fleet/assets/${path}`);
  }

  draft(agent_id: string, path: string, text: string): void {
    this.s3.put(`fleet/agents/${agent_id}/drafts/${path}`, text);
  }

  readDraft(agent_id: string, path: string): string | undefined {
    return this.s3.text(`fleet/agents/${agent_id}/drafts/${path}`);
  }

  shown(agent_id: string, part: string): string {
    return `s3://${this.s3.bucket}/fleet/agents/${agent_id}/${part}/`;
  }

  hasStaged(agent_id: string): boolean {
    return this.s3.keys(`fleet/agents/${agent_id}/promoting/`).length > 0;
  }

  setExecutable(path: string): void {
    this.s3.put(`fleet/assets/${path}`, this.read(path) ?? '', { executable: 'true' });
  }

  isExecutable(path: string): boolean {
    return this.s3.objects.get(`fleet/assets/${path}`)?.metadata.executable === 'true';
  }

  async close(): Promise<void> {
    await this.s3.close();
  }
}
