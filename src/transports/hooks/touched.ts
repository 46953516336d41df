import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ShellPlace } from '../../command-analysis/shell/parameters.ts';
import { patchTargets } from '../../command-analysis/shell/patches.ts';
import { NOTHING, type Touched, type Write } from '../../command-analysis/shell/shell-findings.ts';
import { assessEdit, branchesHere, topAt } from '../../features/guardrails/edits/index.ts';
import type { Assessment } from '../../features/guardrails/index.ts';
import type { Permission } from '../../runtime/access.ts';
import { geminiWrites } from './gemini-paths.ts';

export type { Touched } from '../../command-analysis/shell/shell-findings.ts';

/** What a tool call would do that needs a decision, read from the call alone. */
export interface Danger {
  readonly kind: 'command' | 'file';
  /** All of it as the agent wrote it: the command line, or the tool's input. */
  readonly text: string;
  /** Where a command would run. */
  readonly cwd: string;
  readonly assessment: Assessment;
  /** What the agent's profile has to allow besides the tool itself. */
  readonly permissions: readonly Permission[];
}

/** False: nothing was found, and the project has no patterns of its own, which is nearly always the case. */
export function isWorthJudging({ assessment }: Danger, root: string, env: NodeJS.ProcessEnv): boolean {
  return assessment.findings.length > 0 || existsSync(env.COX_GUARDRAILS || join(root, 'guardrails.yaml'));
}

/** Which files a tool call would write, and what is dangerous about it. */
export interface Foreseen extends Touched {
  readonly danger?: Danger | undefined;
  /** A command that can't have written anything when it has run. */
  readonly readsOnly?: boolean;
}

/** What the transport knows of the machine, for `~` and `$(git rev-parse --show-toplevel)`. */
export interface Known {
  readonly home?: string | undefined;
  readonly root?: string | undefined;
}

interface Call {
  readonly input: unknown;
  readonly cwd: string;
  readonly known: Known;
}

type Tool = (call: Call) => Foreseen | Promise<Foreseen>;

/** Clients send what a model wrote: any field may be missing or have another type. */
function field(input: unknown, name: string): unknown {
  return typeof input === 'object' && input !== null && Object.hasOwn(input, name)
    ? (input as Record<string, unknown>)[name]
    : undefined;
}

function textField(input: unknown, ...names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = field(input, name);
    if (typeof value === 'string' && value !== '') return value;
  }
  return undefined;
}

function written(paths: readonly (string | undefined)[], how: Write['how'] = 'file'): Touched {
  const writes = paths.flatMap((path) => (path === undefined ? [] : [{ path, how }]));
  return writes.length === 0 ? NOTHING : { ...NOTHING, writes };
}

/** The tool writes the file that one of these fields names. */
const file =
  (...names: readonly string[]): Tool =>
  ({ input }) =>
    written([textField(input, ...names)]);

/** Gemini CLI interprets paths in its own way. */
const geminiFile =
  (searches: boolean): Tool =>
  ({ input, cwd }) => {
    const path = textField(input, 'file_path', 'absolute_path');
    return path === undefined ? NOTHING : { ...NOTHING, writes: geminiWrites(path, cwd, searches) };
  };

/** A move changes both ends, and a folder moves everything in it. */
const move: Tool = ({ input }) =>
  written([textField(input, 'source', 'from'), textField(input, 'destination', 'to')], 'tree');

/** The call may name the folder it runs in; its paths are relative to that folder. */
function seenFrom<T extends Touched>(folder: string | undefined, touched: T): T {
  if (folder === undefined) return touched;
  const at = folder.replace(/\/+$/, '');
  const from = (path: string): string => (path.startsWith('/') ? path : path === '.' ? at : `${at}/${path}`);
  const seen = ({ path, how }: Write): Write => ({ path: from(path), how });
  const everywhere = touched.everywhere.map((sweep) => ({
    ...sweep,
    folder: from(sweep.folder),
    reads: sweep.reads === undefined ? undefined : from(sweep.reads),
  }));
  return { ...touched, writes: touched.writes.map(seen), everywhere };
}

function commandOf(input: unknown): string | readonly string[] | undefined {
  const given = field(input, 'command') ?? field(input, 'cmd') ?? field(field(input, 'action'), 'command');
  if (typeof given === 'string') return given;
  return Array.isArray(given) && given.every((word) => typeof word === 'string') ? given : undefined;
}

/** The disk is asked only where the command line makes it necessary. */
function placeAt(cwd: string, { home, root }: Known): ShellPlace {
  let top: { readonly path: string | undefined } | undefined;
  return {
    cwd,
    home,
    get root() {
      top ??= { path: root ?? topAt(cwd) };
      return top.path;
    },
    ...branchesHere,
  };
}

const shell: Tool = async ({ input, cwd, known }) => {
  const command = commandOf(input);
  if (command === undefined || command.length === 0) return NOTHING;
  const names = ['workdir', 'working_directory', 'directory', 'dir_path', 'cwd'];
  const folder = textField(input, ...names) ?? textField(field(input, 'action'), ...names);
  const at = folder === undefined ? cwd : folder.startsWith('/') ? folder : `${cwd}/${folder}`;
  // The parser is loaded only if there is something to parse: most calls are edits.
  const { lookAt } = await import('../../features/guardrails/command-line.ts');
  const { touched, readsOnly, assessment, permissions } = lookAt(command, placeAt(at, known));
  const text = typeof command === 'string' ? command : JSON.stringify(command);
  return {
    ...seenFrom(folder, touched),
    readsOnly,
    danger: { kind: 'command', text, cwd: at, assessment, permissions },
  };
};

/** The patch is the input itself, or a field of it; an argument list is how a shell call passes it. */
const patch: Tool = (call) => {
  const { input } = call;
  if (Array.isArray(field(input, 'command'))) return shell(call);
  const text = typeof input === 'string' ? input : textField(input, 'command', 'patch', 'input');
  if (text === undefined) return NOTHING;
  return seenFrom(textField(input, 'workdir'), written(patchTargets(text, 1)));
};

const CLIENT_TOOLS: Readonly<Record<string, Readonly<Record<string, Tool>>>> = {
  'claude-code': {
    Edit: file('file_path'),
    MultiEdit: file('file_path'),
    Write: file('file_path'),
    NotebookEdit: file('notebook_path', 'file_path'),
    Bash: shell,
  },
  codex: {
    apply_patch: patch,
    Bash: shell,
    shell,
    local_shell: shell,
    shell_command: shell,
    exec_command: shell,
  },
  'gemini-cli': {
    write_file: geminiFile(false),
    replace: geminiFile(true),
    edit: geminiFile(true),
    run_shell_command: shell,
  },
};

/** The tools of file system servers, by their own names. */
const SERVER_TOOLS: Readonly<Record<string, Tool>> = {
  write_file: file('path', 'file_path'),
  edit_file: file('path', 'file_path'),
  create_directory: file('path'),
  delete_file: file('path'),
  move_file: move,
};

/** The tools of MCP servers that can write files, for a client's matcher. */
export const SERVER_WRITERS: string = Object.keys(SERVER_TOOLS).join('|');

function toolOf(client: string, name: string): Tool | undefined {
  const own = Object.hasOwn(CLIENT_TOOLS, client) ? CLIENT_TOOLS[client] : undefined;
  if (own !== undefined && Object.hasOwn(own, name)) return own[name];
  // `mcp__server__write_file`. Gemini joins with one underscore, and a server's name may contain some too.
  if (!/^mcp_/.test(name)) return undefined;
  return Object.entries(SERVER_TOOLS).find(([tool]) => name.endsWith(`_${tool}`))?.[1];
}

/** The text that a patch would add to the files. */
function addedBy(patch: string): string {
  const lines = patch.split('\n').filter((line) => line.startsWith('+') && !line.startsWith('+++'));
  return lines.map((line) => line.slice(1)).join('\n');
}

/** The texts that an edit tool would write. */
function textsOf(input: unknown): string[] {
  if (typeof input === 'string') return [addedBy(input)];
  const patches = [textField(input, 'patch', 'input', 'command')].flatMap((text) => text ?? []);
  const edits = field(input, 'edits');
  const inputs = [input, ...(Array.isArray(edits) ? (edits as unknown[]) : [])];
  const written = inputs.flatMap((each) =>
    ['content', 'new_string', 'new_source', 'newText', 'text'].flatMap((name) => textField(each, name) ?? []),
  );
  return [...written, ...patches.map(addedBy)];
}

/**
 * Which files a client's tool call would write. Paths are as the client wrote them, absolute or relative to
 * `cwd`. An unknown tool, or input that makes no sense, touches nothing.
 */
export async function touchedBy(
  client: string,
  tool: string,
  input: unknown,
  cwd: string,
  known: Known = {},
): Promise<Foreseen> {
  const foreseen: Foreseen = (await toolOf(client, tool)?.({ input, cwd, known })) ?? NOTHING;
  if (foreseen.danger !== undefined || foreseen.writes.length === 0) return foreseen;
  const paths = foreseen.writes.map(({ path }) => (path.startsWith('/') ? path : `${cwd}/${path}`));
  const findings = assessEdit(paths, textsOf(input));
  if (findings.length === 0) return foreseen;
  const assessment: Assessment = { findings, removals: new Map(), discards: new Map(), sql: [] };
  return {
    ...foreseen,
    danger: { kind: 'file', text: JSON.stringify(input), cwd, assessment, permissions: [] },
  };
}
