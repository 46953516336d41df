import { sqlite } from './engine.ts';
import { conformance } from './suite.ts';

conformance(sqlite);
