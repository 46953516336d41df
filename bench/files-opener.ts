/** Opens a store, reads one claim, and says how long that took and how much memory it needed. */
import { performance } from 'node:perf_hooks';
import { claimKey } from '../src/features/claims/edge-claim.ts';
import { open } from '../src/index.ts';

const started_ms = performance.now();
const coxswain = await open({ store: process.argv[2] });
const key = claimKey('FEAT-1', 'design_code');
const { loaded } = await coxswain.store.find('default', { keys: [key] });
if (loaded.get(key) === undefined) throw new Error('the claim is not there');
const elapsed_ms = Math.round(performance.now() - started_ms);
await coxswain.close();
const peak_mb = Math.round(process.resourceUsage().maxRSS / 1000);
process.stdout.write(JSON.stringify({ elapsed_ms, peak_mb }));
