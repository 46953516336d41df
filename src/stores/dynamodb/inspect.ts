import {
  DescribeContinuousBackupsCommand,
  DescribeTimeToLiveCommand,
  type DynamoDBClient,
} from '@aws-sdk/client-dynamodb';
import { failure } from './failures.ts';
import { makeClient } from './sdk.ts';
import { parseAddress } from './table-address.ts';

/**
 * Settings that the store works without but people should know about. Undefined: we have no permission to see
 * it, or DynamoDB Local does not support it.
 */
export interface TableCare {
  readonly expires: boolean | undefined;
  readonly recoverable: boolean | undefined;
}

export async function inspectTable(url: string): Promise<TableCare> {
  const address = parseAddress(url);
  const client = makeClient(address);
  try {
    return {
      expires: await seen(() => expires(client, address.table)),
      recoverable: await seen(() => recoverable(client, address.table)),
    };
  } catch (error) {
    throw failure(error, address);
  } finally {
    client.destroy();
  }
}

async function expires(client: DynamoDBClient, TableName: string): Promise<boolean> {
  const { TimeToLiveDescription } = await client.send(new DescribeTimeToLiveCommand({ TableName }));
  return /^ENABL/.test(TimeToLiveDescription?.TimeToLiveStatus ?? '');
}

async function recoverable(client: DynamoDBClient, TableName: string): Promise<boolean> {
  const { ContinuousBackupsDescription } = await client.send(
    new DescribeContinuousBackupsCommand({ TableName }),
  );
  const recovery = ContinuousBackupsDescription?.PointInTimeRecoveryDescription;
  return recovery?.PointInTimeRecoveryStatus === 'ENABLED';
}

async function seen(look: () => Promise<boolean>): Promise<boolean | undefined> {
  try {
    return await look();
  } catch (error) {
    if (/^(AccessDenied|UnknownOperation)Exception$/.test((error as Error).name)) return undefined;
    throw error;
  }
}
