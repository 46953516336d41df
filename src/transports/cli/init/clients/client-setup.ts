import type { Client } from '../../../shared/agent-clients.ts';
import type { Part } from '../setup-parts.ts';
import type { Scope, Wiring } from '../wiring.ts';

/** Where a client is to be wired. */
export interface Site {
  /** The work tree, or the folder where there is no git. */
  readonly root: string;
  /** The repository's main work tree, where it has one: a client may look there from all of its worktrees. */
  readonly mainRoot: string;
  /** What all worktrees share; without git, the folder. */
  readonly repository: string;
  readonly scope: Scope;
  readonly env: NodeJS.ProcessEnv;
}

/** A file that a client reads, and what is ours in it. */
export interface ClientFile {
  readonly path: string;
  readonly parts: readonly Part[];
  /** Inside the repository, and with this machine's paths in it: not to be committed. */
  readonly local: boolean;
  /** Of a file that is made. */
  readonly mode?: number;
}

/** The content of a file as it is to be; undefined where there will be none. */
export type Reader = (path: string) => string | undefined;

/**
 * Clients run a folder's hooks only with a person's consent, and two of them skip the hooks without a word until then. With
 * `--trust` a person gives it here, having seen the very commands.
 */
export interface Consent {
  /** What `--trust` writes into the client's own notes. Nothing of it is there yet. */
  readonly files: readonly ClientFile[];
  /** What is left to do before all of it runs; undefined if nothing is. */
  readonly left: string | undefined;
}

export interface AgentClient {
  readonly name: Client;
  readonly title: string;
  /** Its command. */
  readonly program: string;
  /** Where its own configuration is kept: if it is there, the client has been used. */
  home(env: NodeJS.ProcessEnv): string;
  files(site: Site, wiring: Wiring): ClientFile[];
  /** What is set up in one worktree of a repository serves the others as well. */
  readonly spansWorktrees: boolean;
  /** What the files in a repository do not reach. */
  readonly caveat?: string;
  /** For these worktrees, the one at hand first. */
  consent(sites: readonly Site[], read: Reader): Consent;
}
