/** `node sitter.ts URL`: a neighbour that sits. Says "sits" once it commits for others, and ends with its input. */
import { once } from 'node:events';
import { open } from '../../src/index.ts';
import { until } from '../support/until.ts';

const coxswain = await open({ store: process.argv[2], sits: true });
await until(async () => String((await coxswain.store.describe()).commits).startsWith('for itself'));
process.stdout.write('sits\n');
process.stdin.resume();
await once(process.stdin, 'end');
await coxswain.close();
