import { userInfo } from 'node:os';
import { join } from 'node:path';
import { isObject, type JsonObject } from '../../../../kernel/json.ts';
import { readBytes } from '../changes.ts';
import type { Part } from '../setup-parts.ts';
import { isOurLauncher, type Launcher, launcherFor } from '../shell-launcher.ts';
import { parseTomlText, putTable, tomlAt } from '../toml-text.ts';
import { Unusable } from '../unusable.ts';
import { homeOf, type Wiring } from '../wiring.ts';
import type { Site } from './client-setup.ts';

/** What Codex sets for its shell commands, and for nothing else that it starts. */
const POLICY = 'shell_environment_policy';
const SET = [POLICY, 'set'];
const BASH_ENV = 'BASH_ENV';

export function codexHome(env: NodeJS.ProcessEnv): string {
  return env.CODEX_HOME || join(homeOf(env), '.codex');
}

export interface CodexShells {
  readonly parts: readonly Part[];
  readonly files: readonly Launcher[];
  readonly note?: string;
}

const LEFT: CodexShells = { parts: [], files: [] };
const UNPROTECTED = "Codex's shell commands are not protected by the kernel";
const INSTEAD = 'Start it with `cox run codex` instead.';

/** Codex has no program to start its shells with, but bash reads a file first. `config`: where that would be written. */
export function codexShells(site: Site, config: string, wiring: Wiring): CodexShells {
  const { shells, locks } = wiring;
  if (shells === undefined) return LEFT;
  const taken = othersSetting(site, config);
  if (taken !== undefined) return { ...LEFT, note: `${UNPROTECTED}: ${taken}, and that stays. ${INSTEAD}` };
  const shell = userInfo().shell ?? '';
  if (!shell.endsWith('/bash'))
    return { ...LEFT, note: `${UNPROTECTED}: that works in bash, and your shell is ${shell}. ${INSTEAD}` };
  if (locks === 'warn' && !isOurLauncher(setIn(config)[BASH_ENV])) return LEFT;
  const launcher = launcherFor('codex', shells, site.scope === 'user' ? 'user' : site.repository, wiring);
  return {
    parts: [{ kind: 'toml-table', at: SET, table: { [BASH_ENV]: launcher.path } }],
    files: [launcher],
  };
}

/** What a person has set that our table would replace or hide. */
function othersSetting({ env }: Site, config: string): string | undefined {
  if (env[BASH_ENV] && !isOurLauncher(env[BASH_ENV])) return `the environment sets ${BASH_ENV} already`;
  const own = join(codexHome(env), 'config.toml');
  const theirs = setIn(own)[BASH_ENV];
  if (theirs !== undefined && !isOurLauncher(theirs)) return `${own} sets ${BASH_ENV} already`;
  const here = setIn(config);
  const others = Object.keys(here).filter((name) => name !== BASH_ENV || !isOurLauncher(here[name]));
  if (others.length > 0 || !canAdd(config)) return `${config} has a ${POLICY} of yours`;
  return undefined;
}

function canAdd(config: string): boolean {
  const text = readBytes(config)?.toString('utf8') ?? '';
  try {
    putTable(text, config, SET, { table: {} });
    return true;
  } catch (error) {
    if (error instanceof Unusable) return false;
    throw error;
  }
}

/** The variables that a configuration sets. A file that can't be read is told of by the part of `cox init` that edits it. */
function setIn(config: string): JsonObject {
  try {
    const text = readBytes(config)?.toString('utf8') ?? '';
    const set = tomlAt(parseTomlText(text, config), SET);
    return isObject(set) ? set : {};
  } catch (error) {
    if (error instanceof Unusable) return {};
    throw error;
  }
}

export function codexLauncher(config: string): string | undefined {
  const file = setIn(config)[BASH_ENV];
  return typeof file === 'string' ? file : undefined;
}
