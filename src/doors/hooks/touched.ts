import { NOTHING, type Touched, type Write } from '../../policy/shell/findings.ts';
import { patchTargets } from '../../policy/shell/patches.ts';

export type { Touched } from '../../policy/shell/findings.ts';

/** What the door knows of the machine, for `~` and `$(git rev-parse --show-toplevel)`. */
export interface Known {
  readonly home?: string | undefined;
  readonly root?: string | undefined;
}

interface Call {
  readonly input: unknown;
  readonly cwd: string;
  readonly known: Known;
}

type Tool = (call: Call) => Touched | Promise<Touched>;

/** Clients send what a model wrote: any field may be missing, or be something else. */
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

/** Both ends of a move change, and a folder takes along what is in it. */
const move: Tool = ({ input }) =>
  written([textField(input, 'source', 'from'), textField(input, 'destination', 'to')], 'tree');

/** Where the call itself says it runs; its paths are written as seen from there. */
function seenFrom(folder: string | undefined, touched: Touched): Touched {
  if (folder === undefined) return touched;
  const at = folder.replace(/\/+$/, '');
  const from = (path: string): string => (path.startsWith('/') ? path : path === '.' ? at : `${at}/${path}`);
  const seen = ({ path, how }: Write): Write => ({ path: from(path), how });
  return { ...touched, writes: touched.writes.map(seen) };
}

function commandOf(input: unknown): string | readonly string[] | undefined {
  const given = field(input, 'command') ?? field(input, 'cmd') ?? field(field(input, 'action'), 'command');
  if (typeof given === 'string') return given;
  return Array.isArray(given) && given.every((word) => typeof word === 'string') ? given : undefined;
}

const shell: Tool = async ({ input, cwd, known }) => {
  const command = commandOf(input);
  if (command === undefined || command.length === 0) return NOTHING;
  const names = ['workdir', 'working_directory', 'directory', 'dir_path', 'cwd'];
  const folder = textField(input, ...names) ?? textField(field(input, 'action'), ...names);
  const at = folder === undefined ? cwd : folder.startsWith('/') ? folder : `${cwd}/${folder}`;
  // The parser is loaded where there is something to parse: most calls are edits.
  const { filesWritten } = await import('../../policy/shell/index.ts');
  return seenFrom(folder, filesWritten(command, { ...known, cwd: at }));
};

/** The patch is the input itself, or a field of it; an argument list is the shell's way to call it. */
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
    write_file: file('file_path', 'absolute_path'),
    replace: file('file_path', 'absolute_path'),
    edit: file('file_path', 'absolute_path'),
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

/** What of MCP servers can write files, for a client's matcher. */
export const SERVER_WRITERS: string = Object.keys(SERVER_TOOLS).join('|');

function toolOf(client: string, name: string): Tool | undefined {
  const own = Object.hasOwn(CLIENT_TOOLS, client) ? CLIENT_TOOLS[client] : undefined;
  if (own !== undefined && Object.hasOwn(own, name)) return own[name];
  // `mcp__server__write_file`; Gemini joins with one underline, and a server's name may hold some, too.
  if (!/^mcp_/.test(name)) return undefined;
  return Object.entries(SERVER_TOOLS).find(([tool]) => name.endsWith(`_${tool}`))?.[1];
}

/**
 * Which files a client's tool call would write. Paths are as the client wrote them, absolute or relative to `cwd`; a tool that
 * is not known here, or whose input makes no sense, touches nothing.
 */
export async function touchedBy(
  client: string,
  tool: string,
  input: unknown,
  cwd: string,
  known: Known = {},
): Promise<Touched> {
  return (await toolOf(client, tool)?.({ input, cwd, known })) ?? NOTHING;
}
