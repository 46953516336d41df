import { files, memory, postgres, sqlite } from '../conformance/engine.ts';
import { breakingCases, crowdCases, roundTripCases } from './sync-cases.ts';

/** DynamoDB: dynamodb-sync.test.ts, which needs Java. */
const ENGINES = [sqlite, files, postgres, memory];

roundTripCases(ENGINES);
breakingCases(ENGINES);
crowdCases(ENGINES);
