/** A process whose -wal is damaged just before it closes its store and ends by itself: `node damaged-worker.ts PATH`. */
import { openSync, writeSync } from 'node:fs';
import { openStore } from '../../src/stores/open-store.ts';
import { cellContext, request, setUnless } from '../conformance/cells.ts';

const [path = ''] = process.argv.slice(2);
const store = await openStore(`sqlite:${path}`, cellContext);
for (let index = 0; index < 5; index += 1)
  await store.run(request('anna'), setUnless(`${index}`, 'never', 'anna'));
// In its second frame.
writeSync(openSync(`${path}-wal`, 'r+'), Buffer.alloc(100, 7), 0, 100, 32 + 24 + 8192 + 1000);
await store.close();
