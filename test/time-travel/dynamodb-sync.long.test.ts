import { dynamodb } from '../conformance/engine.ts';
import { breakingCases, crowdCases } from './sync-cases.ts';

breakingCases([dynamodb]);
crowdCases([dynamodb]);
