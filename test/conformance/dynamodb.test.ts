import { dynamodb } from './engine.ts';
import { conformance } from './suite.ts';

/** One request at a time over the wire takes its time; the rest has its turn in dynamodb-rest.long.test.ts. */
conformance({ ...dynamodb, only: ['locks', 'ledger', 'watch'] });
