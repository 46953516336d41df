import { files } from './engine.ts';
import { conformance } from './suite.ts';

/** What a log beside the file changes; the rest has its turn in files-rest.long.test.ts. */
conformance({ ...files, only: ['ledger', 'claims', 'watch', 'races'] });
