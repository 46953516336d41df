import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  type ListObjectsV2CommandOutput,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { PlaceProblem, PlaceUnusable } from '../storage-place.ts';
import { errorName, placeProblem, statusOf } from './s3-problems.ts';

export interface StoredObject {
  readonly bytes: Uint8Array;
  /** The ETag of exactly these contents, for conditional writes. */
  readonly etag: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly content_type?: string | undefined;
}

export interface ListedObject {
  readonly key: string;
  readonly bytes: number;
  readonly modified_ms: number;
}

export interface Writing {
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  readonly content_type?: string | undefined;
  /**
   * The ETag of the object that may be replaced; null: there must be none. Left out: any object may be
   * replaced.
   */
  readonly replaces?: string | null | undefined;
}

/** `refused`: another object is there. `busy`: two writes collided, and this one was not done. */
export type Written = 'written' | 'refused' | 'busy';

/** The limit for an endless listing; nothing we look for is that far behind. */
const PAGES_MAX = 50;

/** The few requests that drafts and assets need. Expected conditions are answers, not errors. */
export class Bucket {
  readonly #client: S3Client;
  readonly #name: string;

  constructor(client: S3Client, name: string) {
    this.#client = client;
    this.#name = name;
  }

  /** Undefined: there is none. A larger object is not fetched. */
  async get(key: string, bytes_max: number): Promise<StoredObject | undefined> {
    try {
      const found = await this.#client.send(new GetObjectCommand({ Bucket: this.#name, Key: key }));
      if ((found.ContentLength ?? 0) > bytes_max) {
        (found.Body as { destroy?(): void } | undefined)?.destroy?.();
        throw new PlaceProblem(`It is larger than ${bytes_max} bytes.`);
      }
      // Without an ETag a write would have no condition, and replace any object.
      if (!found.ETag) throw new PlaceUnusable(`Bucket ${this.#name}: the service gives no ETags.`);
      return {
        bytes: (await found.Body?.transformToByteArray()) ?? new Uint8Array(),
        etag: found.ETag,
        metadata: found.Metadata ?? {},
        content_type: found.ContentType,
      };
    } catch (error) {
      if (errorName(error) === 'NoSuchKey') return undefined;
      throw placeProblem(error, this.#name);
    }
  }

  async has(key: string): Promise<boolean> {
    try {
      await this.#client.send(new HeadObjectCommand({ Bucket: this.#name, Key: key }));
      return true;
    } catch (error) {
      if (statusOf(error) === 404) return false;
      throw placeProblem(error, this.#name);
    }
  }

  async put(key: string, bytes: Uint8Array, writing: Writing = {}): Promise<Written> {
    const { metadata, content_type, replaces } = writing;
    try {
      await this.#client.send(
        new PutObjectCommand({
          ...{ Bucket: this.#name, Key: key, Body: bytes, ContentType: content_type },
          ...(metadata === undefined ? {} : { Metadata: { ...metadata } }),
          ...(replaces === null ? { IfNoneMatch: '*' } : { IfMatch: replaces }),
        }),
      );
      return 'written';
    } catch (error) {
      if (errorName(error) === 'ConditionalRequestConflict') return 'busy';
      // The condition was about an object that is gone.
      const isGone = replaces !== undefined && errorName(error) === 'NoSuchKey';
      if (statusOf(error) === 412 || isGone) return 'refused';
      throw placeProblem(error, this.#name);
    }
  }

  async remove(key: string): Promise<void> {
    try {
      await this.#client.send(new DeleteObjectCommand({ Bucket: this.#name, Key: key }));
    } catch (error) {
      throw placeProblem(error, this.#name);
    }
  }

  async *list(prefix: string): AsyncGenerator<ListedObject> {
    let token: string | undefined;
    for (let page = 0; page < PAGES_MAX; page += 1) {
      const found: ListObjectsV2CommandOutput = await this.#page(prefix, token);
      for (const { Key = '', Size = 0, LastModified } of found.Contents ?? []) {
        const key = found.EncodingType === 'url' ? decoded(Key) : Key;
        yield { key, bytes: Size, modified_ms: LastModified?.getTime() ?? 0 };
      }
      token = found.NextContinuationToken;
      if (found.IsTruncated !== true || token === undefined) return;
    }
  }

  async #page(prefix: string, token: string | undefined): Promise<ListObjectsV2CommandOutput> {
    try {
      return await this.#client.send(
        new ListObjectsV2Command({
          Bucket: this.#name,
          Prefix: prefix,
          ContinuationToken: token,
          // XML can't express some of the characters that a key may have.
          EncodingType: 'url',
        }),
      );
    } catch (error) {
      throw placeProblem(error, this.#name);
    }
  }
}

function decoded(key: string): string {
  try {
    return decodeURIComponent(key.replaceAll('+', ' '));
  } catch {
    return key;
  }
}
