import { execFileSync, spawnSync } from 'node:child_process';
import { realpathSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { nodeFlags } from '../../src/transports/hooks/quick.ts';
import { atMost, type Bench, type Row } from '../bench.ts';
import { alternate, type GrowthRound, growth, tail } from '../harness.ts';
import { COX, McpProcess } from '../processes.ts';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const HOOK = here('../../dist/hook.cjs');
/** As `cox init` has clients start it. */
const FLAGS = nodeFlags('before-tool');
const STARTS = 15;

interface Call {
  readonly agent: string;
  readonly tool: string;
  readonly input: object;
}

/** A repository with a client at work in it: its MCP server runs, as it does wherever `cox init` has set one up. */
class Workplace {
  readonly #dir: string;
  readonly #bare: string;
  #edits = 0;

  constructor(dir: string) {
    this.#dir = realpathSync(dir);
    this.#bare = join(this.#dir, 'bare.cjs');
    writeFileSync(this.#bare, '');
    execFileSync('git', ['init', '--quiet', this.#dir]);
  }

  #start(
    args: readonly string[],
    input: string,
    env: NodeJS.ProcessEnv,
  ): { took_ms: number; stdout: string } {
    const { PATH, TMPDIR } = process.env;
    const options = { cwd: this.#dir, input, env: { PATH, TMPDIR, HOME: this.#dir, ...env } };
    const start = performance.now();
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { ...options, encoding: 'utf8' });
    const took_ms = performance.now() - start;
    if (status !== 0) throw new Error(`${args.join(' ')}: ${stderr}`);
    return { took_ms, stdout };
  }

  bare(flags: readonly string[] = []): number {
    return this.#start([...flags, this.#bare], '', {}).took_ms;
  }

  #payload({ tool, input }: Omit<Call, 'agent'>): string {
    const call = { session_id: 's', cwd: this.#dir, hook_event_name: 'PreToolUse' };
    return JSON.stringify({ ...call, tool_name: tool, tool_input: input });
  }

  hook({ agent, ...call }: Call, denied = false): number {
    const env = { AGENT_ID: agent, SESSION_ID: agent, AGENT_TYPE: 'bench' };
    const args = [...FLAGS, HOOK, 'claude-code', 'before-tool'];
    const { took_ms, stdout } = this.#start(args, this.#payload(call), env);
    if (stdout.includes('"deny"') !== denied) throw new Error(`not as expected: ${stdout}`);
    return took_ms;
  }

  /** A file that no agent holds: it is locked for the agent, durably. */
  edit(): number {
    this.#edits += 1;
    return this.hook({ agent: 'ann', tool: 'Edit', input: { file_path: `src/file-${this.#edits}.ts` } });
  }

  shell(): number {
    this.#edits += 1;
    const command = `sed -i 's/a/b/' src/file-${this.#edits}.ts`;
    return this.hook({ agent: 'ann', tool: 'Bash', input: { command } });
  }

  peer(): number {
    const program = createRequire(here('../package.json')).resolve('cc-safety-net/package.json');
    const args = [join(program, '..', 'dist', 'bin', 'cc-safety-net.js'), 'hook', '--claude-code'];
    const call = { tool: 'Bash', input: { command: "sed -i 's/a/b/' src/file.ts" } };
    return this.#start(args, this.#payload(call), {}).took_ms;
  }
}

function rowOf(what: string, rounds: readonly GrowthRound[], bound: Row['bound']): Row {
  const { ratio, small, large } = growth(rounds);
  return {
    goal: 'P6',
    what,
    ours: large.median,
    peer: small.median,
    peer_name: 'a bare node start',
    unit: 'ms (p50)',
    ratio,
    bound,
    note: `p99 ${tail(rounds, 'large_ms').toFixed(1)} ms, bare ${tail(rounds, 'small_ms').toFixed(1)} ms`,
  };
}

/** What a hook adds to every tool call of an agent, beside starting Node at all. Lower is better. */
export async function p6(bench: Bench): Promise<Row[]> {
  execFileSync(process.execPath, [here('../../scripts/build-hook.ts'), '--if-old'], { stdio: 'inherit' });
  const dir = await bench.cleanup.tempDir('p6');
  const place = new Workplace(dir);
  const server = new McpProcess(bench, [COX, 'mcp'], dir);
  await server.initialise();
  const held = { tool: 'Edit', input: { file_path: 'src/held.ts' } };
  place.hook({ ...held, agent: 'ann' });
  const ours: [string, () => number, Row['bound']][] = [
    ['hook before an edit, with its lock', () => place.edit(), atMost(1.25, 1.15)],
    [
      'hook before an edit of a file one holds',
      () => place.hook({ ...held, agent: 'ann' }),
      atMost(1.25, 1.15),
    ],
    ['hook before an edit that is denied', () => place.hook({ ...held, agent: 'ben' }, true), undefined],
    ['hook before a shell command, with its lock', () => place.shell(), undefined],
    [`a bare start with ${FLAGS.join(' ')}`, () => place.bare(FLAGS), undefined],
    ['cc-safety-net before a shell command', () => place.peer(), undefined],
  ];
  const rows: Row[] = [];
  for (const [what, action, bound] of ours) {
    const rounds: GrowthRound[] = [];
    for (let round = 0; round <= bench.rounds; round++) {
      bench.progress.say(`P6 ${what}: ${round === 0 ? 'warm-up' : `round ${round}/${bench.rounds}`}`);
      const measured = await alternate(
        round === 0 ? 3 : STARTS,
        async () => place.bare(),
        async () => action(),
      );
      if (round > 0) rounds.push(measured);
    }
    rows.push(rowOf(what, rounds, bound));
  }
  await server.stop();
  return rows;
}
