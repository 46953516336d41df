/** What others may use of enforcement in trust. */
export { countCall } from '../calls.ts';
export { governedBy } from '../governed.ts';
export { profileEnforcement, profileEnforcerOf } from './profile-enforcer.ts';
