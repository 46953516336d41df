import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { installSchedules } from '../../../src/features/workdir/scheduler/install.ts';
import { cronLine, shellWord, systemdService } from '../../../src/features/workdir/scheduler/schedules.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { type Clone, GIT_ENV, repositories } from './repositories.ts';
import { workflowProblems } from './workflow-rules.ts';

const COX = fileURLToPath(new URL('../../../bin/cox', import.meta.url));

interface Written {
  readonly path: string;
  readonly status: string;
  readonly text: string;
}

function install(clone: Clone, kinds: string[], more: JsonObject = {}) {
  const answer = installSchedules({
    kinds,
    root: clone.work,
    env: { HOME: join(clone.folder, '..', 'home') },
    commit: false,
    push: false,
    force: false,
    dry_run: false,
    ...more,
  });
  return { answer, files: (answer.files ?? []) as unknown as Written[], next: answer.next as string[] };
}

const assigned = ({ work }: Clone, id: string) => existsSync(join(work, `assigned/coder/${id}.yaml`));

test('[DIR-9] cron: the line runs as cron would run it, from a folder with a space in its name', () => {
  using place = repositories();
  const { first } = place;
  const { files, next } = install(first, ['cron']);
  const [file] = files;
  assert.ok(file !== undefined && existsSync(file.path));
  const [, command = ''] = /^\*\/5 \* \* \* \* (.*)\n$/.exec(file.text) ?? [];
  first.task('t1');
  // Cron takes \% for a percent sign, and everything else as it stands.
  const ran = spawnSync('/bin/sh', ['-c', command.replaceAll('\\%', '%')], {
    cwd: '/',
    env: { HOME: '/nowhere', PATH: '/usr/bin:/bin' },
    encoding: 'utf8',
  });
  assert.deepEqual([ran.status, ran.stdout, ran.stderr], [0, '', '']);
  assert.ok(assigned(first, 't1'));
  const [, log = ''] = />>'([^']+)'/.exec(command) ?? [];
  assert.match(readFileSync(log, 'utf8'), /moved {2}inbox\/t1\.yaml/);
  assert.equal(first.status().includes('cron'), false, 'nothing of it is in the work tree');
  // What a person is shown to type puts it in once, however often it is typed.
  const bin = join(place.folder, 'bin');
  const table = join(place.folder, 'crontab');
  mkdirSync(bin);
  writeFileSync(table, '0 1 * * * other\n');
  writeFileSync(
    join(bin, 'crontab'),
    `#!/bin/sh\nif [ "$1" = -l ]; then cat '${table}'; else cat > '${table}.new' && mv '${table}.new' '${table}'; fi\n`,
  );
  chmodSync(join(bin, 'crontab'), 0o755);
  for (let count = 0; count < 2; count += 1)
    execFileSync('/bin/sh', ['-c', next[0] ?? ''], { env: { PATH: `${bin}:/usr/bin:/bin` } });
  assert.equal(readFileSync(table, 'utf8'), `0 1 * * * other\n${file.text}`);
});

test('[DIR-9] systemd: a service and a timer that systemd takes, and whose command does a pass', () => {
  using place = repositories();
  const { first } = place;
  const { files } = install(first, ['systemd']);
  const [service, timer] = files;
  assert.match(service?.path ?? '', /\/home\/\.config\/systemd\/user\/cox-coordinate-.*\.service$/);
  assert.match(timer?.text ?? '', /\nOnCalendar=\*:0\/5\nPersistent=true\n/);
  const [, line = ''] = /^ExecStart=(.*)$/m.exec(service?.text ?? '') ?? [];
  first.task('t1');
  const words = [...line.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, word = '']) => word);
  const [program = '', ...rest] = words;
  assert.equal(spawnSync(program, rest, { cwd: first.folder, env: { PATH: '/usr/bin:/bin' } }).status, 0);
  assert.ok(assigned(first, 't1'));
  // Where there is systemd, it has the last word.
  const paths = files.map(({ path }) => path);
  const env = { PATH: process.env.PATH, HOME: place.folder, XDG_RUNTIME_DIR: place.folder };
  const verified = spawnSync('systemd-analyze', ['--user', 'verify', ...paths], { env, encoding: 'utf8' });
  if (verified.error === undefined) assert.deepEqual([verified.status, verified.stderr], [0, '']);
});

test('[DIR-9] names that mean something to a shell, to cron or to systemd stay names', () => {
  const odd = `/o'dd $HOME "x" 50% \\ \`id\``;
  using place = repositories();
  const scheduled = { node: '/bin/echo', cox: odd, top: '/', root: odd, flags: [] };
  const log = join(place.folder, `o'dd log`);
  const line = cronLine(scheduled, log).replace(/^(?:\S+ ){5}/, '');
  assert.equal(/(?<!\\)%/.test(line), false, 'a bare percent sign ends a command of cron');
  assert.equal(spawnSync('/bin/sh', ['-c', line.replaceAll('\\%', '%')]).status, 0);
  assert.equal(readFileSync(log, 'utf8'), `${odd} coordinate ${odd}\n`);
  assert.equal(shellWord('plain/word.txt'), 'plain/word.txt');
  assert.match(
    systemdService(scheduled),
    /ExecStart="\/bin\/echo" "\/o'dd \$\$HOME \\"x\\" 50%% \\\\ `id`" "coordinate"/,
  );
});

test('[DIR-9] github: the workflow is one, asks for no more than it needs, and its steps do the work', () => {
  using place = repositories();
  const { first, remote } = place;
  // A checkout of Coxswain in the repository, without its weight.
  first.put('vendor/coxswain/bin/cox', `#!/bin/sh\nexec '${process.execPath}' '${COX}' "$@"\n`);
  chmodSync(join(first.folder, 'vendor/coxswain/bin/cox'), 0o755);
  const { files } = install(first, ['github'], { package: './vendor/coxswain/' });
  const [file] = files;
  assert.equal(file?.path, join(first.folder, '.github/workflows/cox-coordinate.yml'));
  const workflow = parse(file.text) as JsonObject;
  assert.deepEqual(workflowProblems(workflow), []);
  assert.deepEqual(workflow.permissions, { contents: 'write' });
  assert.deepEqual(workflow.on, { schedule: [{ cron: '*/5 * * * *' }], workflow_dispatch: {} });
  first.task('t1');
  first.git('add', '--all');
  first.git('commit', '--quiet', '--message=the workflow and a task');
  first.git('push', '--quiet');
  const runner = place.clone('--depth=1');
  assert.equal(runSteps(runner, workflow, place.folder), 0);
  assert.match(remote.git('show', '--format=%s', '--name-only', 'main'), /^Coordinator: 1 assigned\n/);
  const head = remote.git('rev-parse', 'main');
  assert.equal(runSteps(runner, workflow, place.folder), 0);
  assert.equal(remote.git('rev-parse', 'main'), head, 'nothing when nothing has changed');
});

test('[DIR-9] github: that a task waits for a person is a warning; whatever else ends a pass fails the job', () => {
  using place = repositories();
  const { first } = place;
  const { files } = install(first, ['github'], { package: './x.tgz' });
  const { jobs } = parse(files[0]?.text ?? '') as { jobs: { coordinate: { steps: JsonObject[] } } };
  const { run, env } = jobs.coordinate.steps.at(-1) ?? {};
  const cox = join(place.folder, 'cox');
  const ended = [0, 3, 1, 2].map((code) => {
    writeFileSync(cox, `#!/bin/sh\necho "$@"\nexit ${code}\n`, { mode: 0o755 });
    const ran = spawnSync('bash', ['-eo', 'pipefail', '-c', String(run)], {
      env: { ...(env as object), PATH: `${place.folder}:/usr/bin:/bin` },
      encoding: 'utf8',
    });
    assert.match(ran.stdout, /^coordinate work --commit --push\n/);
    return [ran.status, ran.stdout.includes('::warning::')];
  });
  assert.deepEqual(ended, [
    [0, false],
    [0, true],
    [1, false],
    [2, false],
  ]);
});

/** As a runner does it; only `npm` is a stand-in, for what it would fetch is there. */
function runSteps({ folder }: Clone, workflow: JsonObject, temp: string): number | null {
  const bin = join(temp, 'runner-bin');
  mkdirSync(bin, { recursive: true });
  writeFileSync(
    join(bin, 'npm'),
    '#!/bin/sh\n[ "$1 $2 $3 $4" = "ci --omit=dev --prefix vendor/coxswain" ]\n',
    {
      mode: 0o755,
    },
  );
  const added = join(temp, 'github-path');
  writeFileSync(added, '');
  const { coordinate } = workflow.jobs as { coordinate: { steps: JsonObject[] } };
  for (const { run, env } of coordinate.steps) {
    if (typeof run !== 'string') continue;
    const path = [...readFileSync(added, 'utf8').split('\n').reverse(), bin, process.env.PATH].filter(
      Boolean,
    );
    const ran = spawnSync('bash', ['-eo', 'pipefail', '-c', run], {
      cwd: folder,
      env: { ...GIT_ENV, ...(env as object), PATH: path.join(':'), GITHUB_PATH: added, RUNNER_TEMP: temp },
      encoding: 'utf8',
    });
    if (ran.status !== 0) return ran.status;
  }
  return 0;
}

test('[DIR-9] written once: unchanged the second time, never over what somebody has changed, unless by force', () => {
  using place = repositories();
  const { first } = place;
  const shown = install(first, ['cron,systemd'], { dry_run: true });
  assert.deepEqual(
    shown.files.map(({ status, path }) => [status, existsSync(path)]),
    Array.from({ length: 3 }, () => ['would be written', false]),
  );
  const statuses = (more: JsonObject = {}) =>
    install(first, ['cron', 'systemd'], more).files.map(({ status }) => status);
  assert.deepEqual(statuses(), ['written', 'written', 'written']);
  assert.deepEqual(statuses(), ['unchanged', 'unchanged', 'unchanged']);
  const [cron] = shown.files;
  const path = cron?.path ?? '';
  writeFileSync(path, '# mine\n');
  const { answer } = install(first, ['cron', 'systemd']);
  assert.deepEqual([answer.error, answer.files], ['would_overwrite', [path]]);
  assert.equal(readFileSync(path, 'utf8'), '# mine\n');
  assert.deepEqual(statuses({ force: true }), ['written', 'unchanged', 'unchanged']);
  assert.match(
    install(first, ['cron'], { push: true, force: true }).files[0]?.text ?? '',
    /work' --commit --push >>/,
  );
});

test('[DIR-9] a store that was named is named to the schedulers too, but no password is written down', () => {
  using place = repositories();
  const { first } = place;
  const store = 'sqlite:/srv/a store.db';
  const [cron, service] = install(first, ['cron,systemd'], { store, project: 'rowing' }).files;
  assert.match(cron?.text ?? '', / --store 'sqlite:\/srv\/a store\.db' --project rowing >>/);
  assert.match(service?.text ?? '', / "--store" "sqlite:\/srv\/a store\.db" "--project" "rowing"\n/);
  for (const secret of ['postgres://me:hidden@db.example/cox', 'postgres://db.example/cox?password=hidden']) {
    const { answer, files } = install(first, ['cron'], { store: secret, force: true });
    assert.deepEqual([answer.error, answer.field, files], ['invalid_input', 'store', []]);
    assert.equal(JSON.stringify(answer).includes('hidden'), false);
    const github = install(first, ['github'], { store: secret, package: './x.tgz', dry_run: true });
    assert.equal(JSON.stringify(github.answer).includes('hidden'), false);
    assert.match(github.files[0]?.text ?? '', /COX_STORE: \$\{\{ secrets\.COX_STORE \}\}/);
    assert.equal(github.next[0], 'gh secret set COX_STORE');
  }
  const local = install(first, ['github'], { store, package: './x.tgz', dry_run: true });
  assert.equal(local.answer.field, 'store', 'no runner has this disk');
});

test('[DIR-9] CI gets cox from where somebody says, and from nowhere else', () => {
  using place = repositories();
  const { first } = place;
  const source = (spec?: string) => {
    const { answer, files } = install(first, ['github'], { dry_run: true, package: spec });
    if (answer.success !== true) return `${String(answer.error)} ${String(answer.field)}`;
    const { jobs } = parse(files[0]?.text ?? '') as { jobs: { coordinate: { steps: JsonObject[] } } };
    const step = jobs.coordinate.steps.find(({ name }) => name === 'Install Coxswain');
    return [(step?.env as JsonObject | undefined)?.COX_SOURCE, String(step?.run).split('\n')[0]];
  };
  assert.equal(source(), 'invalid_input package');
  assert.equal(source('src'), 'invalid_input package', 'no checkout of ours');
  assert.equal(source('https://example.org/coxswain.git'), 'invalid_input package', 'any commit of it');
  assert.deepEqual(source('git+https://example.org/coxswain.git#4f1c2ab'), [
    'https://example.org/coxswain.git#4f1c2ab',
    `git clone --quiet "\${COX_SOURCE%%#*}" "$RUNNER_TEMP/coxswain"`,
  ]);
  assert.deepEqual(source('./coxswain-0.1.0.tgz'), [
    './coxswain-0.1.0.tgz',
    'npm install --global --prefix "$RUNNER_TEMP/coxswain" "$COX_SOURCE"',
  ]);
  assert.equal(install(first, ['cron', 'launchd']).answer.field, 'install');
});
