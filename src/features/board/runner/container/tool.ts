import { gist, type Run, runChild } from '../../../../child-process/bounded-child.ts';

/** Podman first: it needs no daemon, and without root its containers have no more rights than their caller. */
const TOOLS = ['podman', 'docker'] as const;
type ToolName = (typeof TOOLS)[number];

/** Podman takes seconds for its first look at its storage. */
const INFO_MS_MAX = 30_000;
const CALL_MS_MAX = 60_000;

export interface ContainerTool {
  readonly tool: ToolName;
  readonly version: string;
  /** Outside the container, its root user is the caller; its other users are numbers that own nothing. */
  readonly rootless: boolean;
  /** The daemon shifts all user ids by default. */
  readonly remapped: boolean;
  readonly selinux: boolean;
  /** False: the caller may not use the kernel's controllers, and limits would be ignored silently. */
  readonly limits: boolean;
  /** Says where the tool's settings, storage or daemon are. Every call gets the same. */
  readonly env: NodeJS.ProcessEnv;
}

export type FoundTool = ContainerTool | { readonly missing: string };

const found = new WeakMap<NodeJS.ProcessEnv, Promise<FoundTool>>();

/**
 * The first tool that really answers: an installed `docker` without its daemon runs nothing. A tool that was
 * found is remembered.
 */
export async function findContainerTool(env: NodeJS.ProcessEnv): Promise<FoundTool> {
  const known = found.get(env);
  if (known !== undefined) return known;
  const looking = look(env);
  found.set(env, looking);
  // A daemon may be started later.
  if ('missing' in (await looking)) found.delete(env);
  return looking;
}

async function look(env: NodeJS.ProcessEnv): Promise<FoundTool> {
  const wanted = env.COX_CONTAINER_TOOL;
  const tools = TOOLS.filter((tool) => wanted === undefined || wanted === '' || tool === wanted);
  if (tools.length === 0) return { missing: 'COX_CONTAINER_TOOL is neither podman nor docker.' };
  const complaints: string[] = [];
  for (const tool of tools) {
    const run = await callTool({ tool, env }, ['info', '--format', '{{json .}}'], INFO_MS_MAX);
    const info = run.code === 0 ? parsed(run.out) : undefined;
    const answer = tool === 'podman' ? podmanOf(info) : dockerOf(info);
    if (answer !== undefined) return { tool, ...answer, env };
    complaints.push(/\bENOENT\b/.test(run.err) ? `${tool} is not installed` : `${tool}: ${saying(run)}`);
  }
  return {
    missing: `No container can be run here: ${complaints.join('; ')}. Install podman, or start docker's daemon.`,
  };
}

/** Never throws; the returned run says what went wrong. */
export async function callTool(
  { tool, env }: Pick<ContainerTool, 'tool' | 'env'>,
  words: readonly string[],
  limit_ms = CALL_MS_MAX,
): Promise<Run> {
  return await runChild(tool, words, { cwd: '/', env, limit_ms });
}

/** In one line, in the tool's own words. */
export function saying({ code, err }: Run): string {
  return gist(err) || `ended with ${code} and said nothing`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The value at this path of the tool's `info`; undefined if there is none. */
function at(info: unknown, ...names: string[]): unknown {
  return names.reduce(
    (value, name) => (typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined),
    info,
  );
}

type Answer = Omit<ContainerTool, 'tool' | 'env'>;

function podmanOf(info: unknown): Answer | undefined {
  const version = at(info, 'version', 'Version');
  if (typeof version !== 'string') return undefined;
  const rootless = at(info, 'host', 'security', 'rootless') === true;
  return {
    version,
    rootless,
    remapped: false,
    selinux: at(info, 'host', 'security', 'selinuxEnabled') === true,
    limits: !(rootless && at(info, 'host', 'cgroupVersion') === 'v1'),
  };
}

function dockerOf(info: unknown): Answer | undefined {
  const version = at(info, 'ServerVersion');
  // Empty if the program is installed and its daemon does not run.
  if (typeof version !== 'string' || version === '') return undefined;
  const options = at(info, 'SecurityOptions');
  const has = (name: string) =>
    Array.isArray(options) && options.some((option) => String(option).split(',').includes(`name=${name}`));
  return {
    version,
    rootless: has('rootless'),
    remapped: has('userns'),
    selinux: has('selinux'),
    limits: !(has('rootless') && at(info, 'CgroupDriver') === 'none'),
  };
}
