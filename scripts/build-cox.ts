// Builds the bundle that bin/cox loads; with --if-old, only where a source has changed. What builds it takes a while to load.
import { createRequire } from 'node:module';

const { find } = createRequire(import.meta.url)('../bin/bundle.cjs') as {
  find(): { isFresh: boolean } | undefined;
};
if (!process.argv.includes('--if-old') || find()?.isFresh !== true)
  await (await import('./cox-bundle.ts')).buildCox();
