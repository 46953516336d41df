import assert from 'node:assert/strict';
import type { Place } from './place.ts';
import type { Client } from './vendors/client.ts';

/** As a new user does it: signed in, one command. Whether the hooks really run is what each check finds out. */
export async function wireUp(place: Place, clients: readonly Client[]): Promise<void> {
  for (const client of clients) await client.settle(place);
  const names = clients.map(({ name }) => name).join(',');
  const answer = await place.cox('init', '--yes', '--trust', '--client', names);
  assert.equal(answer.success, true, JSON.stringify(answer));
  const steps = answer.next_steps as { client: string; ready: boolean }[];
  // Claude Code asks for itself, and with `-p` does not.
  const waiting = steps.filter(({ client, ready }) => !ready && client !== 'claude-code');
  assert.deepEqual(waiting, []);
}
