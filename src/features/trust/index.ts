/** What other slices, the runtime and the transports may use of trust. */
export { callsEntity } from './calls.ts';
export { CATEGORIES, type Category, type Finding } from './finding.ts';
export type { Guard } from './guard-operation.ts';
export { nativeEngine } from './permit.ts';
export { type Profile, type Standing, writesUnderLock } from './profile.ts';
export { type RulebookState, rulebookEntity, rulebookKey, standingOf } from './rulebook.ts';
export { type UsageState, usageEnded, usageEntity, usageKey } from './usage.ts';
export { PROJECT_WARNING, UNNAMED_PUSH } from './verdict.ts';
export {
  type ViolationCount,
  violationCountEntity,
  violationCountKey,
  violationEntity,
  violationRange,
  violationsIn as listViolations,
  violatorsRange,
} from './violations.ts';
