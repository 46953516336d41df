import type { Finding } from '../trust/index.ts';
import { assessCommand } from './assess.ts';
import { concluded } from './conclude.ts';

/** How a command is judged: with what excuses removing build output, where somebody knows it. */
export type AssessText = (command: string | readonly string[]) => Promise<readonly Finding[]>;

/** Commands of a task or a script in a repository are run at its top, wherever that is. */
const PLACE = { cwd: '/repository', root: '/repository' };

/** A command of which nobody knows where it will run, and the SQL that it hands to a database. */
export const assessText: AssessText = (command) => concluded(assessCommand(command, PLACE), PLACE);
