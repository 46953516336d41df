/** What others may use of enforcement in trust. */
export { countCall, governedBy } from './governed-by.ts';
export { profileEnforcement, profileEnforcerOf } from './profile-enforcer.ts';
