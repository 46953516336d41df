import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isAlive } from '../features/verification/support.ts';
import { until } from '../support/until.ts';
import { boardPlace, typed, typedJson } from './board-place.ts';
import { finished, start } from './support.ts';

test('[PHASE-4] [CLI-1] cox up: whoever asks to stop twice does not wait, and the next one clears up after it', async () => {
  // The agent does not end when it is asked to.
  using place = boardPlace(
    `version: "1.0"
agents:
  worker: {role: Worker, command: [./worker.sh], bidding_strategy: exclusive}
`,
    { 'worker.sh': `trap '' TERM; echo "$$" >> "$TRACE"; while :; do sleep 0.2; done` },
  );
  const options = { cwd: place.folder, env: { COX_STORE: place.store } };
  const child = start(['up'], options);
  const ended = finished(child);
  await typed(place, ['forage', 'never']);
  const [pid = 0] = (await until(async () => place.trace().length > 0 && place.trace())).map(Number);
  child.stderr?.on('data', () => child.kill('SIGTERM'));
  child.kill('SIGTERM');
  assert.equal((await ended).signal, 'SIGTERM');
  const next = start(['up'], options);
  const over = finished(next);
  next.stdout?.on('data', (text: string) => {
    if (/begins with|goes on with/.test(text)) next.kill('SIGTERM');
  });
  assert.equal((await over).code, 0);
  assert.equal(isAlive(pid), false);
  const { claims } = await typedJson(place, 'board');
  const [claim] = claims as { phase_state: { grants: { standing: string }[] } }[];
  assert.equal(claim?.phase_state.grants[0]?.standing, 'waiting');
});
