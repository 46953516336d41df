import { S3Client } from '@aws-sdk/client-s3';
import type { S3Address } from '../../kernel/s3-address.ts';
import { Bucket } from './bucket.ts';
import { S3Place } from './s3-place.ts';

const CONNECT_MS = 3000;
const REQUEST_MS = 20_000;

export interface S3PlaceAsked {
  readonly address: S3Address;
  readonly drafts_path_template: string;
  readonly scratch_path_template: string;
}

/** How long an answer may take, and then its body; the SDK's own default is to wait for ever. */
export function patience(request_ms: number) {
  return {
    ...{ connectionTimeout: CONNECT_MS, requestTimeout: request_ms, socketTimeout: request_ms },
    throwOnRequestTimeout: true,
  };
}

/** Connections and credentials are kept between calls. */
const opened = new Map<string, S3Place>();

export function s3Place(asked: S3PlaceAsked): S3Place {
  const name = JSON.stringify(asked);
  const place = opened.get(name) ?? openPlace(asked);
  opened.set(name, place);
  return place;
}

function openPlace({ address, ...templates }: S3PlaceAsked): S3Place {
  const { bucket, prefix, region, endpoint } = address;
  const client = new S3Client({
    // Left out: the SDK uses its own defaults, as it does for credentials.
    ...(region === undefined ? {} : { region }),
    // Most services other than Amazon's have no host name for each bucket.
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
    requestHandler: patience(REQUEST_MS),
  });
  return new S3Place({ bucket: new Bucket(client, bucket), name: bucket, prefix, ...templates });
}
