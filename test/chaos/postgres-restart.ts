// node test/chaos/postgres-restart.ts --rounds 10 --processes 4
import { startPostgres } from '../support/postgres.ts';
import { type RestartResult, reportRestarts, restartsUnderLoad } from './restarts.ts';

export async function restartPostgres(rounds: number, processes: number): Promise<RestartResult> {
  const server = await startPostgres({ fsync: true });
  return restartsUnderLoad('postgres', server, await server.createDatabase(), {
    rounds,
    processes,
    signals: ['SIGKILL', 'SIGINT'],
  });
}

if (import.meta.main) await reportRestarts(restartPostgres);
