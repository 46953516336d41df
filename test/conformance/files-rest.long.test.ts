import { files } from './engine.ts';
import { allBut, conformance } from './suite.ts';

conformance({ ...files, only: allBut('ledger', 'claims', 'watch', 'races') });
