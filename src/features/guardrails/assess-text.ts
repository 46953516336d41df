import type { Finding } from '../trust/index.ts';
import { assessCommand } from './assess.ts';
import { concluded } from './conclude.ts';

/** How a command is judged, including what excuses the removal of build output, where that is known. */
export type AssessText = (command: string | readonly string[]) => Promise<readonly Finding[]>;

/** Commands of a task or a script in a repository run at its root, wherever that is. */
const PLACE = { cwd: '/repository', root: '/repository' };

/** Judges a command whose folder is unknown, and the SQL that it passes to a database. */
export const assessText: AssessText = (command) => concluded(assessCommand(command, PLACE), PLACE);
