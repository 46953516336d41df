// Agents in one process that take locks as fast as they get answers, and write each answer down. Another program damages the store's
// files meanwhile, and then this process is killed.
import { openSync, writeSync } from 'node:fs';
import { acquireLock } from '../../src/features/locks/index.ts';
import { open } from '../../src/index.ts';

interface Options {
  readonly store: string;
  readonly journal: string;
  readonly lanes: number;
  readonly sits: boolean;
}

const { store, journal, lanes, sits } = JSON.parse(process.argv[2] ?? '{}') as Options;
const file = openSync(journal, 'a');
const coxswain = await open({ store, sits });

async function takeLocks(lane: number): Promise<void> {
  const connection = coxswain.connect({ agent_id: `agent-${lane}`, session_id: `session-${lane}` });
  for (let count = 0; ; count += 1) {
    const file_path = `${process.pid}-${lane}-${count}.ts`;
    const answer = await connection.perform(acquireLock, { file_path, ttl_minutes: 60 });
    writeSync(file, answer.success === true ? `${file_path}\n` : `! ${JSON.stringify(answer)}\n`);
  }
}

await Promise.all(Array.from({ length: lanes }, (_, lane) => takeLocks(lane)));
