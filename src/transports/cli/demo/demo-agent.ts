import { heartbeat } from '../../../features/sessions/operations.ts';
import { open } from '../../../index.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { PresenceSettings } from '../../../runtime/coxswain.ts';
import { operationsByName } from '../../../runtime/operation-list.ts';

/** One agent of the demo: a separate process that does only what it is told over its IPC channel. */

export interface Part {
  readonly agent_id: string;
  readonly session_id: string;
  readonly store: string;
  readonly project: string;
  readonly cwd: string;
  readonly presence: PresenceSettings;
  readonly heartbeat_ms: number;
}

export interface Ask {
  readonly id: number;
  readonly operation: string;
  readonly input: JsonObject;
}

export interface Reply {
  readonly id: number;
  readonly answer?: JsonObject;
  readonly waiting?: JsonObject;
}

const part = JSON.parse(process.argv[2] ?? '{}') as Part;
const { agent_id, session_id } = part;
const coxswain = await open(part);
const connection = coxswain.connect({ agent_id, agent_type: 'demo', session_id });
const send = (reply: Reply) => void process.send?.(reply);

let here = false;

process.on('message', async ({ id, operation, input }: Ask) => {
  const declared = operationsByName.get(operation);
  if (declared === undefined) throw new Error(`the demo has no operation ${operation}`);
  here = operation !== 'end_session';
  const onWaiting = (waiting: JsonObject) => send({ id, waiting });
  send({ id, answer: await connection.perform(declared, input, { onWaiting }) });
});

// A terminal sends Ctrl-C to the whole process group, but the demo process decides when agents stop. If the
// channel closes, there is nothing left to do.
process.on('SIGINT', () => {});
process.on('disconnect', () => process.exit());

setInterval(() => here && void connection.perform(heartbeat, {}), part.heartbeat_ms);
send({ id: 0, answer: { success: true } });
