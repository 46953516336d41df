import assert from 'node:assert/strict';
import { test } from 'node:test';
import { foreignOwners, reviewersOf, tasksAtOnce } from '../../../src/features/teams/team.ts';
import { parseTeam } from '../../../src/features/teams/team-file.ts';

const areaOf = (path: string) => (path.startsWith('..') ? 'outside the repository' : { place: path });

function problems(text: string): string[] {
  const parsed = parseTeam(text, areaOf);
  assert.equal(parsed.ok, false);
  return parsed.ok ? [] : parsed.problems.map(({ line, field, reason }) => `${line} ${field}: ${reason}`);
}

const AGENTS = `team: crew
agents:
  - { name: ann, role: worker, capabilities: [ts], description: writes }
  - { name: ben, role: reviewer, capabilities: [], description: reads }
`;

test('[TEAM-1] members and rules are read', () => {
  const text = `${AGENTS}rules:
  reviews: [{ of: [ann], by: [ben] }]
  owns: [{ agents: [ann], paths: [src/] }]
  at_once: [{ role: worker, tasks: 3 }, { agent: ann, tasks: 2 }]
`;
  const parsed = parseTeam(text, areaOf);
  assert.ok(parsed.ok);
  const { team } = parsed;
  assert.deepEqual(
    team.agents.map(({ name, role, capabilities, description }) => [name, role, capabilities, description]),
    [
      ['ann', 'worker', ['ts'], 'writes'],
      ['ben', 'reviewer', [], 'reads'],
    ],
  );
  assert.deepEqual(reviewersOf(team, 'ann'), ['ben']);
  assert.equal(reviewersOf(team, 'ben'), undefined);
  assert.equal(tasksAtOnce(team, 'ann'), 2, 'the narrower one counts');
  assert.equal(tasksAtOnce(team, 'ben'), undefined);
  assert.deepEqual(foreignOwners(team, 'ben', { place: 'src/a.ts' }), ['ann']);
  assert.deepEqual(foreignOwners(team, 'ben', { place: './' }), ['ann'], 'what contains it touches it');
  assert.equal(foreignOwners(team, 'ann', { place: 'src/a.ts' }), undefined);
  assert.equal(foreignOwners(team, 'ben', { place: 'srcx/a.ts' }), undefined);
});

test('[TEAM-1] a file with the document’s keys alone is a team, and each of them is needed', () => {
  const member = { name: 'ann', role: 'worker', capabilities: '[ts, sql]', description: 'writes' };
  const lines = Object.entries(member).map(([key, value]) => `${key}: ${value}`);
  const whole = parseTeam(`agents:\n  - { ${lines.join(', ')} }\n`, areaOf);
  assert.ok(whole.ok);
  assert.deepEqual(whole.team.agents, [{ ...member, capabilities: ['ts', 'sql'] }]);
  for (const missing of Object.keys(member)) {
    const rest = lines.filter((line) => !line.startsWith(missing));
    const [problem = '', ...more] = problems(`agents:\n  - { ${rest.join(', ')} }\n`);
    assert.match(problem, new RegExp(`agents\\.0\\.${missing}: `));
    assert.equal(more.length, 0);
  }
});

test('[TEAM-2] every mistake at once, with line, field and reason', () => {
  const text = `team: crew
agents:
  - name: ann
    role: worker
    capabilities: []
    description: writes
    pay: 3
  - name: ann
    role: reviewer
    capabilities: []
    description: reads
rules:
  reviews:
    - of: [ann]
      by: [ann, zoe]
  owns:
    - agents: [ann]
      paths: [../x]
  at_once:
    - { role: boss, tasks: 1 }
`;
  assert.deepEqual(problems(text), [
    '7 agents.0.pay: unknown field',
    '8 agents.1.name: "ann" is there twice',
    '15 rules.reviews.0.by.0: "ann" would review its own work',
    '15 rules.reviews.0.by.1: "zoe" is not one of the agents',
    '20 rules.at_once.0.role: no agent has the role "boss"',
    '18 rules.owns.0.paths.0: outside the repository',
  ]);
});

test('[TEAM-2] what is no team file at all is said plainly', () => {
  assert.match(problems('team: [').join('\n'), /^1 file: /m);
  assert.deepEqual(
    problems('').map((each) => each.split(':')[0]),
    ['1 agents'],
  );
  assert.match(problems('team: a\nteam: b\nagents: []').join('\n'), /^2 file: .*unique/m);
  const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefghi'
    .split('')
    .map((name, index) => `${name}: &${name} [${`*${'abcdefgh'[index]},`.repeat(9)}]`)
    .join('\n')}`;
  assert.deepEqual(problems(bomb), ['1 file: too many aliases']);
});
