// An orchestrator that starts one execution and is killed over it: says what came of it, if it lives to see that.
import type { GrantAssignment } from '../../../src/features/board/runner/execution-port.ts';
import { startExecution } from '../../../src/features/board/runner/process/process-execution.ts';
import type { Places } from '../../../src/features/board/runner/process/run-files.ts';

const { assignment, places } = JSON.parse(process.argv[2] ?? '') as {
  assignment: GrantAssignment;
  places: Places;
};
console.log(JSON.stringify(await startExecution(assignment, places).delivered));
