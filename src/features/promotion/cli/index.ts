/** What the command line uses of promotion. */
export { PROMOTIONS_TOLD } from './promotion-words.ts';
