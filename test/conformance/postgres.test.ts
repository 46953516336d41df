import { postgres } from './engine.ts';
import { allBut, conformance } from './suite.ts';

/** Crowds of processes have their turn in postgres-rest.long.test.ts; on SQLite they are part of every run. */
conformance({ ...postgres, only: allBut('processes', 'start') });
