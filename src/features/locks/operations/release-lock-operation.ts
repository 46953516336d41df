import { areaName } from '../../../kernel/area.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { isRefusal } from '../../../kernel/refusal.ts';
import { answerOf } from '../../../ledger/decision.ts';
import { namedAreas } from '../../../runtime/call.ts';
import type { AreasInput, Operation } from '../../../runtime/operation.ts';
import { releaseLock as decide, releaseLocks as decideSeveral } from '../commands.ts';

export interface ReleaseLockInput extends AreasInput {
  fencing_token?: number | undefined;
}

export const releaseLock = {
  name: 'release_lock',
  group: 'lock',
  verb: 'release',
  summary: 'Release locks you hold, as soon as your change is done.',
  route: { method: 'POST', path: '/locks/release' },
  mutates: true,
  proven: true,
  repeatable: true,
  standard: true,
  winds_down: true,
  positional: ['file_path'],
  several: 'file_paths',
  examples: ['cox lock release src/app.ts', 'cox lock release src/a.ts src/api/'],
  sample: { file_path: 'src/app.ts' },
  input: async () => (await import('../schemas.ts')).releaseLock,
  async handle(input, step) {
    const { grants } = step;
    const area = (path: string, field: string) => grants.lockNamed(path) ?? step.area(path, field);
    const named = namedAreas(input, { area });
    if ('success' in named) return named;
    const releases = named.areas.map((area) => {
      const token = input.fencing_token ?? grants.of(`lock/${areaName(area)}`);
      return { area, caller: { ...step.caller, token } };
    });
    const [only] = releases;
    const decision = named.single && only !== undefined ? decide(only) : decideSeveral(releases);
    const answer = answerOf(await step.run(decision));
    const results = named.single ? [answer] : ((answer.results as JsonObject[] | undefined) ?? []);
    const released = new Set<string>();
    for (const [index, { area, caller }] of releases.entries()) {
      const result = results[index];
      if (result === undefined || isRefusal(result)) continue;
      released.add(areaName(area));
      grants.forget(`lock/${areaName(area)}`, caller.token);
    }
    for (const [name, area] of named.names) if (released.has(areaName(area))) grants.forgetName(name);
    return answer;
  },
} satisfies Operation<ReleaseLockInput>;
