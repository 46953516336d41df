// Builds dist/hook.cjs; with --if-old, only where what it is made of is newer. What builds it takes a while to load.
import { bundleState } from '../src/transports/cli/init/bundle.ts';

const isDue = !process.argv.includes('--if-old') || bundleState() !== 'fresh';
process.exitCode = isDue ? await (await import('./hook-bundle.ts')).buildHook() : 0;
