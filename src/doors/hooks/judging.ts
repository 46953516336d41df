/** What is needed once something looks dangerous, in one piece of the bundle (scripts/build-hook.ts). */
export { judge } from './judge.ts';
