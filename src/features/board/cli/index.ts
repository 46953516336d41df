/** What the command line uses of board. */
export { BOARD_TOLD, claimTitle } from './board-words.ts';
