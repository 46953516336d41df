// One pass with a store, as a process of its own: `node mirror-worker.ts FOLDER STORE OFFSET_MS`
import { join } from 'node:path';
import { coordinate } from '../../../src/features/workdir/folder/pass.ts';
import { PassMirror } from '../../../src/features/workdir/scheduler/mirror-pass.ts';
import { DEFAULT_WORKDIR } from '../../../src/features/workdir/workdir-settings.ts';
import { open } from '../../../src/index.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { PASSES } from './mirror-stage.ts';

const [cwd = '', store = '', offset_ms = '0'] = process.argv.slice(2);
const clock = { ...systemClock, now_ms: () => systemClock.now_ms() + Number(offset_ms) };
const coxswain = await open({ store, cwd, clock, env: {}, presence: 'off' });
const root = join(cwd, 'work');
const settings = { ...DEFAULT_WORKDIR, take_from_queue: { docs: 'ann' } };
const mirror = new PassMirror({ root, settings, actor: PASSES, open: async () => coxswain });
process.stdout.write('begun\n');
await mirror.take();
await mirror.show(await coordinate({ root, settings, now_ms: clock.now_ms() }));
await coxswain.close();
process.exitCode = mirror.isWell ? 0 : 1;
