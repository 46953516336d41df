import { createRequire } from 'node:module';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { pathToFileURL } from 'node:url';
import { assessCommand } from '../../src/features/guardrails/assess.ts';
import { permit } from '../../src/features/trust/permit.ts';
import { standingOf } from '../../src/features/trust/rulebook.ts';
import { type Operation, readCorpus } from '../../test/features/guardrails/guard/corpus.ts';
import { atMost, type Bench, type Bound, type Row } from '../bench.ts';
import { median, percentile, spread } from '../statistics.ts';

const LONG_CHARS = 4096;
const CHECK_MS_MAX = 1;
const DECISION_MS_MAX = 0.1;
const DECISIONS = 20_000;
const LONG_TIMES = 50;
const PLACE = { cwd: '/repo', home: '/h', root: '/repo' };

/** Every command of the corpus, line upon line: no person types that. */
function wildScripts(operations: readonly Operation[]): string[] {
  const scripts: string[] = [];
  let text = '';
  for (const { command } of operations) {
    if (text.length + command.length + 1 > LONG_CHARS) {
      scripts.push(text);
      text = '';
    }
    text += `${command}\n`;
  }
  return scripts;
}

const filled = (start: string, line: (n: number) => string, end: string): string => {
  let text = start;
  for (let n = 0; text.length + line(n).length + end.length <= LONG_CHARS; n += 1) text += line(n);
  return text + end;
};

/** Commands of four kilobytes as agents type them. */
function longCommands(): string[] {
  return [
    filled(
      "cat > docs/guide.md <<'EOF'\n",
      (n) => `Step ${n}: never run \`rm -rf /\`, see $HOME.\n`,
      'EOF\n',
    ),
    filled(
      "cat > src/a.ts <<'EOF'\n",
      (n) => `export const a${n} = 'it''s ${n}';\n`,
      'EOF\nnpx tsc --noEmit\n',
    ),
    filled(
      "git commit -m \"$(cat <<'EOF'\nfix: all\n",
      (n) => `- item ${n} (was: git push --force)\n`,
      'EOF\n)"',
    ),
    filled('npx prettier --write', (n) => ` src/components/file-${n}.tsx`, ''),
    filled('git add', (n) => ` "src/with space/file ${n}.ts"`, ' && git commit -m "all of them"'),
    filled(
      "python3 - <<'EOF'\nimport json\n",
      (n) => `print(json.dumps({"n": ${n}, "s": "a b c"}))\n`,
      'EOF\n',
    ),
    filled('set -e\n', (n) => `grep -rn "item ${n}" src | head -${n}\n`, ''),
    filled('', (n) => `sed -i 's/old${n}/new${n}/g' src/file-${n}.ts\n`, 'npm test 2>&1 | tail -40\n'),
    filled('for f in', (n) => ` src/file-${n}.ts`, '; do node --check "$f" || echo "$f"; done'),
    filled('psql -c "INSERT INTO t VALUES (0)', (n) => `, (${n})`, '"'),
    filled('rm -f', (n) => ` /tmp/cox-${n}/out.log`, ''),
    filled("curl -s localhost:3000/items -d '[0", (n) => `, {"id": ${n}}`, "]' | jq '.items | length'"),
  ];
}

function each_ms(count: number, run: (index: number) => void): number[] {
  const took: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const start = performance.now();
    run(index);
    took.push(performance.now() - start);
  }
  return took;
}

interface Measured {
  readonly what: string;
  readonly limit_ms: number;
  readonly bound: Bound | undefined;
  round(): number[];
}

/** The 99th percentile of each round beside the time that it may take. */
function withinLimit(bench: Bench, { what, limit_ms, bound, round }: Measured): Row {
  const rounds: number[][] = [];
  for (let n = 0; n <= bench.rounds; n += 1) {
    bench.progress.say(`GUARD ${what}: ${n === 0 ? 'warm-up' : `round ${n}/${bench.rounds}`}`);
    const took = round();
    if (n > 0) rounds.push(took);
  }
  const p99 = rounds.map((took) => percentile(took, 0.99));
  return {
    goal: 'GUARD',
    what,
    ours: median(p99),
    peer: limit_ms,
    peer_name: 'what it may take',
    unit: 'ms (p99)',
    ratio: spread(p99.map((took_ms) => took_ms / limit_ms)),
    bound,
    note: `p50 ${median(rounds.flat()).toPrecision(2)} ms, slowest ${Math.max(...rounds.flat()).toFixed(1)} ms`,
  };
}

interface PeerApi {
  checkCommand(input: { command: string; cwd: string }): unknown;
}

async function besidePeer(bench: Bench, commands: readonly string[]): Promise<Row> {
  const manifest = createRequire(new URL('../package.json', import.meta.url)).resolve(
    'cc-safety-net/package.json',
  );
  const { checkCommand } = (await import(
    pathToFileURL(join(manifest, '..', 'dist', 'api.js')).href
  )) as PeerApi;
  const cwd = await bench.cleanup.tempDir('guard');
  const ask = (run: (command: string) => unknown): number =>
    median(each_ms(commands.length, (index) => run(commands[index] ?? '')));
  const ours: number[] = [];
  const peer: number[] = [];
  for (let n = 0; n <= bench.rounds; n += 1) {
    const own_ms = ask((command) => assessCommand(command, PLACE));
    const peer_ms = ask((command) => checkCommand({ command, cwd }));
    if (n === 0) continue;
    ours.push(own_ms);
    peer.push(peer_ms);
  }
  return {
    goal: 'GUARD',
    what: 'guardrail check of the corpus, in process',
    ours: median(ours),
    peer: median(peer),
    peer_name: 'cc-safety-net',
    unit: 'ms (p50)',
    ratio: spread(ours.map((own_ms, round) => own_ms / (peer[round] ?? Number.NaN))),
    bound: undefined,
    note: '',
  };
}

function decide(index: number): void {
  const actor = { agent_id: `agent-${index % 500}`, agent_type: index % 2 === 0 ? 'claude-code' : 'codex' };
  permit(standingOf(undefined, actor), {
    operation: 'acquire_lock',
    group: 'lock',
    permission: 'write',
    door: 'mcp',
  });
}

/** What the guardrails and the policy cost each call. Lower is better. */
export async function guard(bench: Bench): Promise<Row[]> {
  const corpus = [...readCorpus('destructive'), ...readCorpus('legitimate')];
  const commands = corpus.map(({ command }) => command);
  const long = longCommands();
  const check = (texts: readonly string[]) => () =>
    each_ms(texts.length, (index) => assessCommand(texts[index] ?? '', PLACE));
  const measured: Measured[] = [
    {
      what: 'guardrail check, commands of the corpus',
      limit_ms: CHECK_MS_MAX,
      bound: atMost(1, 0.5),
      round: check(commands),
    },
    {
      what: 'guardrail check, commands of 4 KB',
      limit_ms: CHECK_MS_MAX,
      bound: atMost(1, 0.5),
      round: () => Array.from({ length: LONG_TIMES }, check(long)).flat(),
    },
    {
      what: 'guardrail check, the corpus in scripts of 4 KB',
      limit_ms: CHECK_MS_MAX,
      bound: undefined,
      round: check(wildScripts(corpus)),
    },
    {
      what: 'policy decision',
      limit_ms: DECISION_MS_MAX,
      bound: atMost(1, 0.5),
      round: () => each_ms(DECISIONS, decide),
    },
  ];
  const rows = measured.map((each) => withinLimit(bench, each));
  return [...rows, await besidePeer(bench, commands)];
}
