/** What is needed once something looks dangerous, as one chunk of the bundle (scripts/hook-bundle.ts). */
export { judge } from './judge-command.ts';
