import { dynamodb, files, postgres, sqlite } from '../conformance/engine.ts';
import { oneScriptCases } from './one-script-cases.ts';
import { roundTripCases } from './sync-cases.ts';

/** The four stores that keep something. */
const ENGINES = [sqlite, files, postgres, dynamodb];

oneScriptCases(ENGINES);
roundTripCases(ENGINES);
