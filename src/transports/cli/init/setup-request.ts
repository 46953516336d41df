import { type Refusal, refuse } from '../../../kernel/refusal.ts';
import { findWorkspace, type Workspace } from '../../../kernel/workspace.ts';
import { invalid } from '../../../runtime/answer.ts';
import { anchored } from '../../../runtime/choose-store.ts';
import { stateFolder } from '../../../storage/state-folder.ts';
import { CLIENTS } from '../../shared/agent-clients.ts';
import { LOCK_POLICIES, type LockPolicy } from '../../shared/enforcement-policy.ts';
import type { Terminal } from '../output/terminal.ts';
import type { CommonOptions } from '../program/common.ts';
import { type FoundClient, findClients } from './clients/all.ts';
import type { Site } from './clients/client-setup.ts';
import { siteOf, type Worktrees, worktreesOf } from './setup-worktrees.ts';
import { SCOPES } from './wiring.ts';

export interface InitOptions extends CommonOptions {
  readonly client?: string;
  readonly scope?: string;
  readonly locks?: string;
  readonly skills?: boolean;
  readonly gitHooks?: boolean;
  readonly trust?: boolean;
  readonly undo?: boolean;
  readonly yes?: boolean;
  readonly dryRun?: boolean;
}

/** The options, checked. */
export interface Request {
  readonly site: Site;
  readonly workspace: Workspace;
  readonly worktrees: Worktrees;
  readonly state: string;
  readonly locks: LockPolicy;
  readonly store: string | undefined;
  readonly chosen: readonly FoundClient[];
  readonly leftOut: readonly FoundClient[];
}

export function readRequest(
  options: InitOptions,
  terminal: Terminal,
): { ok: true; request: Request } | { ok: false; refusal: Refusal } {
  const { env, cwd } = terminal;
  const misplaced = misplacedOption(options);
  if (misplaced !== undefined) return { ok: false, refusal: misplaced };
  const scope = oneOf('scope', options.scope ?? 'project', SCOPES);
  if (typeof scope !== 'string') return { ok: false, refusal: scope };
  const locks = oneOf('locks', options.locks ?? 'auto', LOCK_POLICIES);
  if (typeof locks !== 'string') return { ok: false, refusal: locks };
  const store = storeToWrite(options.store, cwd);
  if (typeof store === 'object') return { ok: false, refusal: store };
  const state = stateFolder(env);
  if (typeof state !== 'string') return { ok: false, refusal: state };
  const found = findClients(env);
  const named = namedClients(options.client);
  if (!Array.isArray(named)) return { ok: false, refusal: named };
  const isChosen = ({ client, program, used }: FoundClient) =>
    named.length === 0 ? program !== undefined || used : named.includes(client.name);
  const workspace = findWorkspace(cwd);
  const site = siteOf(workspace, scope, env);
  return {
    ok: true,
    request: {
      site,
      workspace,
      worktrees: worktreesOf(workspace, site),
      state,
      locks,
      store,
      chosen: found.filter(isChosen),
      leftOut: named.length === 0 ? found.filter((each) => !isChosen(each)) : [],
    },
  };
}

/** An option that would otherwise be ignored silently. */
function misplacedOption({ undo, client, trust, project }: InitOptions): Refusal | undefined {
  if (undo === true && trust === true)
    return invalid('trust', 'nothing beside --undo, which takes it back with all the rest');
  if (undo === true && client !== undefined)
    return invalid(
      'client',
      'nothing beside --undo, which takes all of it away; set up the others again after it',
    );
  if (project !== undefined)
    return invalid(
      'project',
      'COX_PROJECT in the environment of your agents instead: hooks know no other way',
    );
  return undefined;
}

function oneOf<T extends string>(field: string, given: string, words: readonly T[]): T | Refusal {
  const word = words.find((each) => each === given);
  return word ?? invalid(field, `one of ${words.join(', ')}`);
}

function namedClients(given: string | undefined): string[] | Refusal {
  const names = (given ?? '').split(',').flatMap((name) => name.trim() || []);
  const unknown = names.find((name) => !CLIENTS.some((each) => each === name));
  return unknown === undefined ? names : invalid('client', `some of ${CLIENTS.join(',')}`);
}

/**
 * A relative path would mean another file in every folder, and a password does not belong in configuration
 * files.
 */
function storeToWrite(given: string | undefined, cwd: string): string | undefined | Refusal {
  if (given === undefined) return undefined;
  if (/^postgres(ql)?:\/\/[^/@]*:[^/@]*@/.test(given))
    return refuse(
      'invalid_input',
      'store: expected a URL without a password, which would be written into files.',
      {
        field: 'store',
        expected: 'COX_STORE in the environment of your agents instead',
      },
    );
  return anchored(given, cwd);
}
