import { type Refusal, refuse } from '../../../kernel/refusal.ts';
import { e2b } from './e2b.ts';
import type { Executor } from './executor.ts';
import { github } from './github.ts';
import { inline } from './inline.ts';
import { ntm } from './ntm.ts';

const ALL: readonly Executor[] = [inline, github, ntm, e2b()];

/** Everything that a person's own machine can do. */
export function everyExecutor(): readonly Executor[] {
  return ALL;
}

/**
 * What a server does for others. Their code would run on it, so without a word (`COX_VERIFY=inline,ntm`) it only asks GitHub.
 */
export function servedExecutors(env: NodeJS.ProcessEnv): readonly Executor[] | Refusal {
  const names = (env.COX_VERIFY || 'github')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'off');
  const unknown = names.find((name) => !ALL.some((executor) => executor.name === name));
  if (unknown !== undefined) {
    const expected = `off, or some of ${ALL.map(({ name }) => name).join(', ')}`;
    return refuse('invalid_input', `COX_VERIFY: expected ${expected}`, { field: 'COX_VERIFY', expected });
  }
  return ALL.filter(({ name }) => names.includes(name));
}
