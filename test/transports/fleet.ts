import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '../../src/kernel/json.ts';
import { until } from '../support/until.ts';
import type { Agent } from './doors.ts';
import type { Scenario } from './scenario.ts';

const ROLES = `roles:
  architect: { converge_edges: [intent_requirements, requirements_design, design_code] }
  tdd_engineer: { converge_edges: [code_unit_tests] }
agents: { alice: architect }
`;
const DONE =
  'trajectory: {requirements: converged, design: converged, code: converged, unit_tests: pending}\n';

/** A fleet and its folder. */
export const fleetScenarios: Record<string, Scenario> = {
  '[CLAIM-7] [CLAIM-12] a fleet is told who takes what next, and what had better wait': async (
    alice,
    bob,
    { folder },
  ) => {
    const fleet = join(folder, '.ai-workspace');
    mkdirSync(join(fleet, 'features'), { recursive: true });
    writeFileSync(join(fleet, 'agent_roles.yml'), ROLES);
    writeFileSync(join(fleet, 'modules.yml'), 'modules: {web: [db]}\n');
    writeFileSync(join(fleet, 'features', 'auth.yml'), `feature: AUTH\nmodules: [db]\n${DONE}`);
    writeFileSync(join(fleet, 'features', 'shop.yml'), 'feature: SHOP\nmodules: [web]\n');
    writeFileSync(join(fleet, 'features', 'docs.yml'), 'feature: DOCS\nmodules: [docs]\npriority: 9\n');
    await untilPlanned(3, alice, bob);

    const routed = await alice.call('route_work', {
      agents: [{ agent_id: 'alice' }, { agent_id: 'bob', agent_role: 'tdd_engineer' }, { agent_id: 'eve' }],
    });
    assert.equal(routed.roles_file, '.ai-workspace/agent_roles.yml');
    assert.deepEqual(
      (routed.assignments as JsonObject[]).map(({ agent_id, agent_role, feature, edge }) =>
        [agent_id, agent_role, feature, edge].join(' '),
      ),
      [
        'alice architect SHOP intent_requirements',
        'bob tdd_engineer AUTH code_unit_tests',
        'eve  DOCS intent_requirements',
      ],
    );
    const [warning] = routed.warnings as JsonObject[];
    assert.deepEqual([warning?.order, warning?.shared_modules], [['AUTH', 'SHOP'], ['db']]);
    assert.deepEqual(routed.groups, [['AUTH', 'DOCS'], ['SHOP']]);

    const [own] = (await bob.call('route_work', {})).assignments as JsonObject[];
    assert.deepEqual([own?.agent_id, own?.feature], ['bob', 'AUTH'], 'default: whoever asks');
    const twice = await bob.call('route_work', { agents: [{ agent_id: 'x' }, { agent_id: 'x' }] });
    assert.deepEqual([twice.error, twice.field], ['invalid_input', 'agents']);

    writeFileSync(join(fleet, 'agent_roles.yml'), 'authority:\n  outside_authority_action: allow\n');
    await until(async () => (await (bob.aside ?? bob).call('route_work', {})).success === false);
    await until(async () => (await (alice.aside ?? alice).call('route_work', {})).success === false);
    const refused = await bob.call('route_work', {});
    assert.deepEqual([refused.error, (refused.errors as JsonObject[])[0]?.line], ['roles_invalid', 2]);
    rmSync(fleet, { recursive: true });
    await untilPlanned(0, alice, bob);
    assert.match(String((await alice.call('route_work', {})).message), /no feature files/);
  },
};

/** The files are looked at once a second. */
async function untilPlanned(features: number, ...agents: Agent[]): Promise<void> {
  for (const agent of agents)
    await until(async () => {
      const { groups } = await (agent.aside ?? agent).call('route_work', {});
      return (groups as string[][] | undefined)?.flat().length === features;
    });
}
