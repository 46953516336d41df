/** What is needed once something looks dangerous, in one piece of the bundle (scripts/hook-bundle.ts). */
export { judge } from './judge-command.ts';
