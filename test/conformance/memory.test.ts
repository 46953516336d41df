import { memory } from './engine.ts';
import { conformance } from './suite.ts';

conformance(memory);
