// node test/chaos/dynamodb-restart.ts --rounds 10 --processes 4
// A DynamoDB Local that keeps its data is stopped under load and started again. Its memory of request tokens ends with it, which
// AWS's does not: so a commit whose answer was lost has to be recognised by what it wrote. It is not killed with -9: then it has
// forgotten transactions that it had acknowledged (a loop of bare TransactWriteItems shows it).
import { startDynamoDb, tableOn } from '../support/dynamodb.ts';
import { type RestartResult, reportRestarts, restartsUnderLoad } from './restarts.ts';

export async function restartDynamoDb(rounds: number, processes: number): Promise<RestartResult> {
  const server = await startDynamoDb({ persistent: true });
  const { url } = await tableOn(server.endpoint);
  return restartsUnderLoad('dynamodb', server, url, { rounds, processes, signals: ['SIGTERM', 'SIGINT'] });
}

if (import.meta.main) await reportRestarts(restartDynamoDb);
