import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent, board, problems, warnings } from './support.ts';

const bid = 'bidding_strategy: claim';

function program(fields: string, orchestrator = '', given = {}) {
  const text = `agents: { a: { ${bid}, ${fields} } }\norchestrator: { ${orchestrator} }`;
  return board(text, given).agents[0]?.program;
}

test('which runtime: the agent’s, the orchestrator’s, then a command is a process and an image a container', () => {
  const runtime = (fields: string, orchestrator?: string) => program(fields, orchestrator)?.runtime;
  assert.equal(runtime('command: [x]'), 'process');
  assert.equal(runtime('image: x'), 'container');
  assert.equal(runtime('command: [x], image: x'), 'process');
  assert.equal(runtime('command: [x], image: x', 'runtime: container'), 'container');
  assert.equal(runtime('command: [x], image: x, runtime: process', 'runtime: container'), 'process');
  assert.equal(runtime('command: [x], image: x, runtime: container', 'runtime: process'), 'container');
  assert.equal(program('role: x'), undefined);
  assert.equal(program('role: x', 'runtime: container'), undefined, 'nobody starts it, in no runtime');
});

test('the image is named where it is used, and only there', () => {
  assert.deepEqual([program('image: a/b:1')?.image, program('image: a/b:1')?.command], ['a/b:1', []]);
  assert.equal(program('image: a, command: [x]')?.image, undefined);
  const both = `agents: { a: { ${bid}, image: a, command: [x] } }`;
  assert.match(warnings(both).join(), /^1 agents\.a\.image: not used: the command runs as a process/);
  assert.deepEqual(warnings(`${both}\norchestrator: { runtime: process }`), [], 'that was said');
});

test('what a runtime needs is asked for', () => {
  const found = (fields: string, orchestrator = '') =>
    problems(`agents: { a: { ${bid}, ${fields} } }\norchestrator: { ${orchestrator} }`);
  assert.deepEqual(found('command: [x], runtime: container'), ['1 agents.a: a container needs an image']);
  assert.deepEqual(found('command: [x]', 'runtime: container'), ['1 agents.a: a container needs an image']);
  assert.deepEqual(found('image: x, runtime: process'), ['1 agents.a: a process needs a command']);
  assert.deepEqual(found('runtime: process'), ['1 agents.a: a process needs a command']);
  assert.deepEqual(found('mode: controller, command: [x]'), ['1 agents.a: a controller needs a worker']);
});

test('an image can’t become an option or a second argument', () => {
  for (const image of ['--privileged', '-v/:/host', 'a b', 'a\\nb', '$(x)', '"a;b"'])
    assert.deepEqual(
      problems(`agents:\n  a:\n    image: "${image.replaceAll('"', '')}"`),
      ['3 agents.a.image: expected the name of an image'],
      image,
    );
  assert.equal(
    program(`image: "\${HOST}/a@sha256:00"`, '', { env: { HOST: 'example.com:5000' } })?.image,
    'example.com:5000/a@sha256:00',
  );
  assert.equal(problems(`agents: { a: { image: "\${I}" } }`, { env: { I: '--privileged' } }).length, 1);
});

test('a controller: what its worker says counts, then what the agent says', () => {
  const { program, workers, max_concurrent } = agent(
    `${bid}, mode: controller, command: [own], image: own, workspace: { mode: rw }, environment: [A=1, B=1],
     worker: { command: [work], environment: { B: 2 } }`,
  );
  assert.deepEqual(
    [program?.command, program?.workspace, program?.environment, workers, max_concurrent],
    [['work'], 'rw', { A: '1', B: '2' }, true, 1],
  );
  const image = agent(
    `${bid}, mode: controller, image: own, worker: { image: theirs, workspace: { mode: none } }`,
  );
  assert.deepEqual([image.program?.image, image.program?.workspace], ['theirs', 'none']);
  const own = agent(`${bid}, mode: controller, command: [own], worker: {}`);
  assert.deepEqual([own.program?.command, own.workers], [['own'], true]);
});

test('how many at once', () => {
  const crowd = (fields: string) => {
    const { workers, max_concurrent } = agent(`${bid}, command: [x], ${fields}`);
    return [workers, max_concurrent];
  };
  assert.deepEqual(crowd('replicas: 1'), [false, 1]);
  assert.deepEqual(crowd('replicas: 3'), [true, 3]);
  assert.deepEqual(crowd('replicas: 3, max_concurrent: 2'), [true, 2]);
  assert.deepEqual(crowd('max_concurrent: 2'), [false, 2]);
  assert.deepEqual(crowd('mode: controller, worker: { max_concurrent: 5 }, replicas: 2'), [true, 5]);
  assert.deepEqual(crowd('mode: controller, worker: { max_concurrent: 0 }, replicas: 2'), [true, 2]);
  assert.deepEqual(crowd('worker: { max_concurrent: 5 }'), [false, 1]);
  assert.equal(agent('replicas: 3').workers, false, 'nobody starts them');
  assert.match(warnings('agents: { a: { replicas: 3 } }').join(), /^1 agents\.a\.replicas: not used/);
});

test('an agent that is run and never bids is warned of; one that comes by itself is not', () => {
  assert.match(warnings('agents:\n  a:\n    command: [x]\n').join(), /^2 agents\.a: never bids/);
  assert.deepEqual(warnings('agents: { a: { command: [x], bid_script: [y] } }'), []);
  assert.equal(warnings('agents: { a: { command: [x], bid_script: [] } }').length, 1);
  assert.deepEqual(warnings('agents: { a: }'), []);
});

test('the workspace: read-only unless said otherwise; without a repository there is none', () => {
  assert.equal(program('command: [x]')?.workspace, 'ro');
  assert.equal(program('command: [x], workspace: { mode: }')?.workspace, 'ro');
  assert.equal(program('command: [x], workspace: { mode: none }')?.workspace, 'none');
  assert.equal(program('command: [x]', '', { repository: false })?.workspace, 'none');
  assert.deepEqual(
    problems('agents:\n  a:\n    command: [x]\n    workspace:\n      mode: rw\n', { repository: false }),
    ['4 agents.a.workspace: rw needs a git repository, and this folder is in none'],
  );
});

test('the environment: a list or a map, values as they are written, names alone handed on', () => {
  const environment = (given: string, env = {}) =>
    program(`command: [x], environment: ${given}`, '', { env })?.environment;
  assert.deepEqual(environment('[A=1, "B=x=y", C=, "D=a b", A=2]'), { A: '2', B: 'x=y', C: '', D: 'a b' });
  assert.deepEqual(environment('{ A: 1.10, B: 007, C: "", D: yes, E: 0x1F, F: 12345678901234567890 }'), {
    A: '1.10',
    B: '007',
    C: '',
    D: 'yes',
    E: '0x1F',
    F: '12345678901234567890',
  });
  assert.deepEqual(environment('[A, B]', { A: 'a', Z: 'z' }), { A: 'a' });
  assert.deepEqual(environment('{ A: , B: ~ }', { A: 'a', B: '' }), { A: 'a', B: '' });
  assert.deepEqual(environment(`["A=<\${X}\${X}>"]`, { X: `\${Y}` }), { A: `<\${Y}\${Y}>` }, 'replaced once');
  assert.deepEqual(
    environment(`["A=$X \${X:-y} $\${X"]`),
    { A: `$X \${X:-y} $\${X` },
    'nothing else is replaced',
  );
  assert.deepEqual(
    warnings(
      `agents:\n  a:\n    ${bid}\n    command: [x]\n    environment:\n      - NOT_SET\n      - constructor\n`,
    ),
    ['NOT_SET', 'constructor'].map(
      (name, index) =>
        `${6 + index} agents.a.environment.${index}: ${name} is not set here: the agent is started without it`,
    ),
  );
  for (const given of [
    'text',
    '[[A]]',
    '[{ A: 1 }]',
    '{ A: [1] }',
    '["=1"]',
    '["A B=1"]',
    '{ "A-B": 1 }',
    '["A=\\0"]',
  ])
    assert.match(
      problems(`agents: { a: { command: [x], environment: ${given} } }`).join(),
      /^1 agents\.a\.environment/,
      given,
    );
});

test('what a secret holds is in no message', () => {
  const text = `agents: { a: { command: [x], environment: ["K=hunter2\\0", "1=hunter2", "L=hunter2\${X}"] } }`;
  const found = problems(text);
  assert.equal(found.length, 3);
  assert.doesNotMatch(found.join(), /hunter2/);
});

test('commands are left as they are; variables in them are a shell’s', () => {
  const command = (given: string) => program(`command: ${given}`, '', { env: { X: 'v' } })?.command;
  assert.deepEqual(command(`[sh, -c, "echo \${X}"]`), ['sh', '-c', `echo \${X}`]);
  assert.deepEqual(command('[sleep, 5, "", true, 1.10]'), ['sleep', '5', '', 'true', '1.10']);
  assert.match(warnings(`agents: { a: { ${bid}, command: [run, "\${X}"] } }`).join(), /a shell’s to replace/);
  for (const shell of ['sh', '/bin/bash', 'zsh', '/usr/bin/env'])
    assert.deepEqual(warnings(`agents: { a: { ${bid}, command: [${shell}, "\${X}"] } }`), [], shell);
  for (const given of ['run.sh', '[]', '[""]', '[" "]', '[[a]]', '[~]', '{ a: b }', '["a\\0b"]'])
    assert.match(problems(`agents: { a: { command: ${given} } }`).join(), /^1 agents\.a\.command/, given);
});

test('resources: cores and sizes as container tools read them', () => {
  const amounts = (given: string) => {
    const { cpus, memory_bytes } = program(`command: [x], resources: ${given}`) ?? {};
    return [cpus, memory_bytes];
  };
  const [MB, GB] = [1024 ** 2, 1024 ** 3];
  assert.deepEqual(amounts('{ limits: { cpus: "0.5", memory: "512M" } }'), [0.5, 512 * MB]);
  assert.deepEqual(amounts('{ cpus: 2, memory: 2GB }'), [2, 2 * GB]);
  assert.deepEqual(
    amounts('{ cpus: 2, memory: 2GB, limits: { memory: 1g } }'),
    [2, GB],
    'limits count first',
  );
  assert.deepEqual(amounts('{ reservations: { cpus: 2 } }'), [undefined, undefined]);
  for (const [given, bytes] of [
    ['6291456', 6 * MB],
    ['6291456b', 6 * MB],
    ['10240k', 10 * MB],
    ['1.5GiB', 1.5 * GB],
    ['1 gb', GB],
  ] as const)
    assert.deepEqual(amounts(`{ memory: ${given} }`)[1], bytes, given);
  for (const given of ['512', '-1G', '1X', '1e9', '99999T', '[]'])
    assert.equal(problems(`agents: { a: { resources: { memory: ${given} } } }`).length, 1, given);
  for (const given of ['0', '-1', '1e1', 'half', '2000'])
    assert.equal(problems(`agents: { a: { resources: { cpus: ${given} } } }`).length, 1, given);
});
