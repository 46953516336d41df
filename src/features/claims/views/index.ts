/** What others may use of views in claims. */
export { showConverged } from './show-converged.ts';
