import { type Refusal, refuse } from '../../kernel/refusal.ts';
import type { AnyOperation } from '../../runtime/operation.ts';
import { operations } from '../../runtime/operation-list.ts';

/** What an agent may call: neither administration nor what only a person decides. */
const offered = operations.filter(({ administers, personal }) => administers !== true && personal !== true);

/** The tools a client wants: `standard`, `all`, or groups separated by commas. */
export function chooseTools(set = 'standard'): readonly AnyOperation[] | Refusal {
  if (set === 'all') return offered;
  if (set === 'standard') return offered.filter(({ standard }) => standard);
  const known = [...new Set(offered.map(({ group }) => group))];
  const groups = set.split(',').map((group) => group.trim());
  const unknown = groups.find((group) => !known.includes(group));
  if (unknown === undefined) return offered.filter(({ group }) => groups.includes(group));
  const expected = `standard, all or some of ${known.join(',')}`;
  const message = `tools: expected ${expected}; there is no group ${JSON.stringify(unknown.slice(0, 40))}`;
  return refuse('invalid_input', message, { field: 'tools', expected });
}
