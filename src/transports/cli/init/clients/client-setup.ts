import type { Client } from '../../../shared/agent-clients.ts';
import type { Part } from '../setup-parts.ts';
import type { Scope, Wiring } from '../wiring.ts';

/** Where a client is to be wired. */
export interface Site {
  /** The work tree, or the folder if there is no git. */
  readonly root: string;
  /** The repository's main work tree, if it has one: a client may look there from all worktrees. */
  readonly mainRoot: string;
  /** What all worktrees share; without git, the folder. */
  readonly repository: string;
  readonly scope: Scope;
  readonly env: NodeJS.ProcessEnv;
}

/** A file that a client reads, and our parts in it. */
export interface ClientFile {
  readonly path: string;
  readonly parts: readonly Part[];
  /** Inside the repository, with paths of this machine in it: not to be committed. */
  readonly local: boolean;
  /** For a file that is newly created. */
  readonly mode?: number;
}

/** The planned content of a file; undefined if the file will not exist. */
export type Reader = (path: string) => string | undefined;

/**
 * Clients run a folder's hooks only with a person's consent, and two of them silently skip the hooks until
 * then. With `--trust` a person gives that consent here, after seeing the exact commands.
 */
export interface Consent {
  /** What `--trust` writes into the client's own notes. None of it is there yet. */
  readonly files: readonly ClientFile[];
  /** What is left to do before all hooks run; undefined if nothing is. */
  readonly left: string | undefined;
}

export interface ClientShells {
  /** The launcher that its settings name now, ours or not; undefined if they name none. */
  launcher(site: Site): string | undefined;
  /** Why it gets none, where the kernel could protect its commands. */
  note(site: Site, wiring: Wiring): string | undefined;
  /** How the client starts a command with its launcher. */
  start(
    launcher: string,
    command: string,
  ): { words: readonly string[]; env: Readonly<Record<string, string>> };
}

export interface AgentClient {
  readonly name: Client;
  readonly title: string;
  /** Its command. */
  readonly program: string;
  /** The client's configuration folder. If it exists, the client has been used. */
  home(env: NodeJS.ProcessEnv): string;
  files(site: Site, wiring: Wiring): ClientFile[];
  /** Whether setting up one worktree of a repository serves the other worktrees too. */
  readonly spansWorktrees: boolean;
  /** How its shell commands are started under the kernel's protection; undefined if it offers no way. */
  readonly shells?: ClientShells;
  /** What the files in a repository do not cover. */
  readonly caveat?: string;
  /** For these worktrees, the current one first. */
  consent(sites: readonly Site[], read: Reader): Consent;
}
