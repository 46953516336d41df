/** What other folders may use of the claims views. */
export { showConverged } from './show-converged.ts';
