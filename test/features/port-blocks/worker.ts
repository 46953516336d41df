// One of many processes that want ports. Says what it got, line by line; told to start by a line on stdin.
import { once } from 'node:events';
import { portsIn } from './support.ts';

interface Job {
  readonly folder: string;
  readonly name: string;
  /** So many sessions at once and then the end; without it one after the other until it is killed. */
  readonly sessions?: number;
}

const { folder, name, sessions } = JSON.parse(process.argv[2] ?? '') as Job;
const ports = portsIn(folder);
const say = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`);

async function allocate(session_id: string): Promise<void> {
  const answer = await ports.allocate(session_id, undefined);
  say('success' in answer ? { session_id, refused: answer.error } : { session_id, port: answer.db_port });
}

say({ ready: true });
await once(process.stdin, 'data');
process.stdin.destroy();
if (sessions !== undefined)
  await Promise.all(Array.from({ length: sessions }, (_, index) => allocate(`${name}-${index}`)));
else
  for (let index = 0; ; index += 1) {
    await allocate(`${name}-${index}`);
    await ports.release(`${name}-${index - 1}`);
    say({ session_id: `${name}-${index - 1}`, released: true });
  }
