/** What others may use of enforcement in trust. */
export { countCall, governedBy } from './governed-by.ts';
export { profileEnforcement, profileEnforcerOf } from './profile-enforcer.ts';
export {
  localTrust,
  RulebookReader as Rules,
  type RulesOptions,
  rulesFor,
  rulesOptions,
  rulesService,
  type StepRules,
} from './rulebook-reader.ts';
