import type { AgentProgram } from '../../../src/features/board/files/agent-config.ts';
import type { GrantAssignment } from '../../../src/features/board/runner/execution-port.ts';

/** A grant of an agent that runs as a container. */
export function assigned(
  program: Partial<AgentProgram> = {},
  more: Partial<GrantAssignment> = {},
): GrantAssignment {
  const run_id = more.run_id ?? 'run-1';
  return {
    claim_id: 'claim-1',
    phase: 'exclusive',
    attempt: 1,
    run_id,
    worker: 'coder-claim-1-1',
    agent: {
      agent_id: 'coder',
      role: 'coder',
      max_concurrent: 1,
      workers: true,
      program: {
        command: ['agent', '--fast'],
        image: 'example.org/agents/coder:1',
        runtime: 'container',
        workspace: 'none',
        environment: {},
        prompts: {},
        ...program,
      },
    },
    input: {},
    limit_ms: 60_000,
    ...more,
  };
}
