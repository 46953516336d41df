import { postgres } from './engine.ts';
import { conformance } from './suite.ts';

conformance({ ...postgres, only: ['processes', 'start'] });
