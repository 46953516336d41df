import { dynamodb } from './engine.ts';
import { allBut, conformance } from './suite.ts';

conformance({ ...dynamodb, only: allBut('locks', 'ledger', 'watch') });
