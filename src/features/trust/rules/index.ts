/** What others may use of a project's rules in trust: enough to ask about a permission, without what enforces it in commits. */
export { permit } from '../permit.ts';
export {
  localTrust,
  RulebookReader as Rules,
  type RulesOptions,
  rulesFor,
  rulesOptions,
  rulesService,
  type StepRules,
} from './rulebook-reader.ts';
