import { followers } from './engine.ts';
import { conformance } from './suite.ts';

conformance(followers);
