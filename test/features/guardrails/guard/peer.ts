import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Category } from '../../../../src/features/trust/finding.ts';
import type { Repository } from './repository.ts';

export type Level = 'standard' | 'paranoid';

/**
 * What cc-safety-net says it blocks without anything added: destructive git and file commands, and access to secrets. Cloud tools
 * are rulebooks that one adds, and `rm -rf` inside the working folder passes by design below its paranoid level.
 */
export const PEER_CLAIMS: ReadonlySet<Category | 'none'> = new Set([
  'git_force',
  'branch_deletion',
  'history_rewrite',
  'mass_deletion',
  'credential_modification',
  'unresolved',
  'none',
]);

export interface Peer {
  readonly name: string;
  denies(commands: readonly string[], level: Level): boolean[];
  /** The same by its Claude Code hook, one process per command. */
  hookDenies(command: string): boolean;
}

function manifestPath(): string | undefined {
  try {
    const bench = createRequire(new URL('../../../../bench/package.json', import.meta.url));
    return bench.resolve('cc-safety-net/package.json');
  } catch {
    return undefined; // its lock file is the benchmarks', and they are not installed
  }
}

/** cc-safety-net as bench/package-lock.json pins it; undefined where the benchmarks' peers are not installed. */
export function findPeer({ root, home }: Repository): Peer | undefined {
  const manifest = manifestPath();
  if (manifest === undefined) return undefined;
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string };
  const dist = join(dirname(manifest), 'dist');
  const program = fileURLToPath(new URL('peer-program.ts', import.meta.url));
  const run = (args: readonly string[], input: string, level: Level): string => {
    const { PATH, TMPDIR } = process.env;
    const env = { PATH, TMPDIR, HOME: home, CC_SAFETY_NET_LEVEL: level };
    const options = { cwd: root, env, input, encoding: 'utf8', maxBuffer: 2 ** 28 } as const;
    const { status, stdout, stderr } = spawnSync(process.execPath, args, options);
    if (status !== 0) throw new Error(`cc-safety-net: ${stderr}`);
    return stdout;
  };
  return {
    name: `cc-safety-net ${version}`,
    denies(commands, level) {
      const args = [program, pathToFileURL(join(dist, 'api.js')).href, root];
      return JSON.parse(run(args, JSON.stringify(commands), level)) as boolean[];
    },
    hookDenies(command) {
      const call = { session_id: 's', cwd: root, hook_event_name: 'PreToolUse', tool_name: 'Bash' };
      const args = [join(dist, 'bin', 'cc-safety-net.js'), 'hook', '--claude-code'];
      return run(args, JSON.stringify({ ...call, tool_input: { command } }), 'standard').includes('"deny"');
    },
  };
}
