import type { Agent } from './doors.ts';
import type { Scratch } from './support.ts';

/** What two agents do, through whichever door. */
export type Scenario = (alice: Agent, bob: Agent, scratched: Scratch) => Promise<void>;
