// An orchestrator that starts one execution and is killed over it: says what came of it, if it lives to see that.
import type { Assignment } from '../../src/doors/board/execution.ts';
import { startExecution } from '../../src/doors/board/process/execution.ts';
import type { Places } from '../../src/doors/board/process/run-files.ts';

const { assignment, places } = JSON.parse(process.argv[2] ?? '') as {
  assignment: Assignment;
  places: Places;
};
console.log(JSON.stringify(await startExecution(assignment, places).delivered));
