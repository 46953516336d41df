import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fingerprint } from '../../../kernel/fingerprint.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { type Refusal, refuse } from '../../../kernel/refusal.ts';
import { findWorkspace } from '../../../kernel/workspace.ts';
import { invalid } from '../../../runtime/answer.ts';
import { errorCode } from '../../../storage/real-path.ts';
import {
  cronLine,
  cronMark,
  githubWorkflow,
  type Scheduled,
  type Source,
  shellWord,
  systemdService,
  systemdTimer,
} from './schedules.ts';

/** The same relative path from src and from dist. */
const COX = fileURLToPath(new URL('../../../../bin/cox', import.meta.url));
const KINDS = ['cron', 'systemd', 'github'] as const;
type Kind = (typeof KINDS)[number];

export interface InstallOptions {
  /** As they were typed: `cron`, `cron,systemd`. */
  readonly kinds: readonly string[];
  readonly root: string;
  readonly env: NodeJS.ProcessEnv;
  readonly commit: boolean;
  readonly push: boolean;
  /** The store that the tasks are mirrored to, as the caller named it. */
  readonly store?: string | undefined;
  readonly project?: string | undefined;
  /** Where CI gets `cox` from. */
  readonly package?: string | undefined;
  readonly force: boolean;
  readonly dry_run: boolean;
}

interface Planned {
  readonly path: string;
  readonly text: string;
}

interface Plan {
  readonly files: readonly Planned[];
  /** The commands left for a person to type. */
  readonly next: readonly string[];
}

/** Files for schedulers, ready to be used. No crontab or service manager is changed. [DIR-9] */
export function installSchedules(options: InstallOptions): JsonObject {
  const kinds = kindsOf(options.kinds);
  if ('success' in kinds) return kinds;
  if (/[\n\r]/.test(options.root)) return invalid('dir', 'a path without line breaks');
  if (options.store !== undefined && !kinds.every((kind) => kind === 'github') && hasPassword(options.store))
    return invalid('store', 'one without a password, which would stand in a file: have COX_STORE set there');
  const { root: top, gitCommonDir } = findWorkspace(options.root);
  const plans: Plan[] = [];
  for (const kind of kinds) {
    const plan = planFor(kind, options, top, gitCommonDir);
    if ('success' in plan) return plan;
    plans.push(plan);
  }
  const files = plans.flatMap((plan) => plan.files).map((file) => ({ ...file, before: textOf(file.path) }));
  const changed = files.filter(({ text, before }) => before !== undefined && before !== text);
  if (changed.length > 0 && !options.force) {
    const paths = changed.map(({ path }) => path);
    return refuse('would_overwrite', `${paths.join(', ')} says something else already.`, { files: paths });
  }
  const written = files.map(({ path, text, before }) => {
    const isSame = before === text;
    if (!isSame && !options.dry_run) write(path, text);
    return { path, status: isSame ? 'unchanged' : options.dry_run ? 'would be written' : 'written', text };
  });
  return { success: true, files: written, next: plans.flatMap((plan) => plan.next) };
}

function kindsOf(given: readonly string[]): readonly Kind[] | Refusal {
  const words = given.flatMap((each) => each.split(',')).filter((word) => word !== '');
  const wrong = words.find((word) => !(KINDS as readonly string[]).includes(word));
  if (wrong !== undefined || words.length === 0)
    return invalid('install', `${KINDS.join(', ')}, or several of them`);
  return [...new Set(words as Kind[])];
}

function planFor(kind: Kind, options: InstallOptions, top: string, git: string | undefined): Plan | Refusal {
  const { root, env, commit, push, store, project = 'default' } = options;
  const flags = [...(commit || push ? ['--commit'] : []), ...(push ? ['--push'] : [])];
  if (store !== undefined) flags.push('--store', store);
  if (project !== 'default') flags.push('--project', project);
  const scheduled: Scheduled = { node: process.execPath, cox: COX, top, root, flags };
  switch (kind) {
    case 'cron':
      return cronPlan(scheduled, git === undefined ? join(top, '.coxswain') : join(git, 'coxswain'));
    case 'systemd':
      return systemdPlan(scheduled, env);
    case 'github':
      return githubPlan(options, top);
  }
}

function cronPlan(scheduled: Scheduled, folder: string): Plan {
  const path = join(folder, `cron-${nameOf(scheduled.root)}.txt`);
  const log = join(folder, `coordinate-${nameOf(scheduled.root)}.log`);
  // Added once, however often it is typed.
  const others = `crontab -l 2>/dev/null | grep -vF ${shellWord(cronMark(scheduled.root).replaceAll('%', '\\%'))}`;
  return {
    files: [{ path, text: cronLine(scheduled, log) }],
    next: [`(${others}; cat ${shellWord(path)}) | crontab -`],
  };
}

function systemdPlan(scheduled: Scheduled, env: NodeJS.ProcessEnv): Plan {
  const config = env.XDG_CONFIG_HOME || join(env.HOME || homedir(), '.config');
  const folder = join(config, 'systemd', 'user');
  const unit = `cox-coordinate-${nameOf(scheduled.root)}`;
  return {
    files: [
      { path: join(folder, `${unit}.service`), text: systemdService(scheduled) },
      { path: join(folder, `${unit}.timer`), text: systemdTimer(scheduled.root) },
    ],
    next: [`systemctl --user daemon-reload && systemctl --user enable --now ${unit}.timer`],
  };
}

function githubPlan({ root, package: spec, store }: InstallOptions, top: string): Plan | Refusal {
  if (store !== undefined && !/^(?:postgres|dynamodb)/.test(store))
    return invalid('store', 'one that CI reaches: postgres://… or dynamodb://…');
  if (spec === undefined)
    return invalid(
      'package',
      'where CI gets cox from, for it is on no registry yet: a folder of this repository, a git address with #COMMIT, or a tarball',
    );
  const source = sourceOf(spec, top);
  if ('success' in source) return source;
  const way = relative(top, root).split(sep).join('/') || '.';
  return {
    files: [
      {
        path: join(top, '.github', 'workflows', 'cox-coordinate.yml'),
        text: githubWorkflow(way, source, store !== undefined),
      },
    ],
    next: [
      ...(store === undefined ? [] : ['gh secret set COX_STORE']),
      'git add .github/workflows/cox-coordinate.yml && git commit && git push',
    ],
  };
}

function hasPassword(store: string): boolean {
  return /^[a-z]+:\/\/[^/@]*:[^/@]*@|[?&]password=/i.test(store);
}

function sourceOf(spec: string, top: string): Source | Refusal {
  const folder = spec.replace(/^\.\//, '').replace(/\/+$/, '');
  if (statSync(join(top, folder), { throwIfNoEntry: false })?.isDirectory() === true && folder !== '') {
    if (textOf(join(top, folder, 'bin', 'cox')) === undefined)
      return invalid('package', `a checkout of Coxswain; there is no ${folder}/bin/cox`);
    return { kind: 'folder', spec: folder };
  }
  if (!/^git\+|\.git(?:#|$)|^github:/.test(spec)) return { kind: 'npm', spec };
  const address = spec.replace(/^git\+/, '').replace(/^github:/, 'https://github.com/');
  if (!/#[^#]+$/.test(address))
    return invalid('package', 'a git address with #COMMIT or #TAG: what runs is then what was meant');
  return { kind: 'git', spec: address };
}

/** Different from other work directories of the same user. */
function nameOf(root: string): string {
  const word = basename(dirname(root)).replaceAll(/[^\w-]+/g, '-') || 'work';
  return `${word}-${fingerprint(root).slice(0, 6)}`;
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(error))) return undefined;
    throw error;
  }
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  const aside = `${path}.${process.pid}.cox`;
  writeFileSync(aside, text);
  renameSync(aside, path);
}
