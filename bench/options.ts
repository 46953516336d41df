/** The command line of `npm run bench`. */
import { parseArgs } from 'node:util';

export const GOALS = [
  'P1',
  'P2',
  'P3',
  'P4',
  'P5',
  'P6',
  'P7',
  'P8',
  'P9',
  'P10',
  'CROWD',
  'WAIT',
  'EVENTS',
  'GUARD',
  'GUARDED',
  'FILES',
  'BOARD',
  'WORKDIR',
] as const;
export type Goal = (typeof GOALS)[number];

export interface Options {
  goals: Goal[];
  rounds: number;
  seconds: number;
  p7_tasks: number;
  p7_locks: number;
  p8_operations: number;
  json: boolean;
  fail: boolean;
  baselines_only: boolean;
  /** What to type to get these figures again. */
  command: string;
}

export const USAGE = `npm run bench -- [P1 P2 P3 P4 P5 P6 P7 P8 P9 P10 CROWD WAIT EVENTS GUARD GUARDED FILES BOARD WORKDIR] [options]

  --rounds N      rounds per comparison, ours and the peers in turns (5)
  --seconds N     how long each turn lasts, about (2)
  --p7-tasks N    how many queued tasks P7 grows to (1000000)
  --p7-locks N    how many locks P7 grows to (100000)
  --p8-operations N  how many operations P8 sends to cox serve (1000000)
  --baselines     the peers and the machine's limits alone, without ours
  --json          JSON instead of the table
  --no-fail       exit 0 even if a floor is missed
`;

export class UsageError extends Error {}

function positive(name: string, text: string): number {
  const value = Number(text);
  if (!(value > 0) || !Number.isFinite(value))
    throw new UsageError(`--${name}: ${text} is not a number above 0`);
  return value;
}

function isGoal(text: string): text is Goal {
  return (GOALS as readonly string[]).includes(text);
}

function goalsOf(names: readonly string[]): Goal[] {
  const goals = names.map((name) => {
    const goal = name.toUpperCase();
    if (!isGoal(goal)) throw new UsageError(`${name} is none of ${GOALS.join(', ')}`);
    return goal;
  });
  return goals.length === 0 ? [...GOALS] : GOALS.filter((goal) => goals.includes(goal));
}

export function parseOptions(given: readonly string[]): Options | 'help' {
  // `npm run bench -- P1 -- --seconds 1` leaves a `--` in the middle, which would end the options.
  const args = given.filter((argument) => argument !== '--');
  let parsed: ReturnType<typeof parse>;
  try {
    parsed = parse(args);
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
  const { values, positionals } = parsed;
  if (values.help) return 'help';
  return {
    goals: goalsOf(positionals),
    rounds: Math.ceil(positive('rounds', values.rounds)),
    seconds: positive('seconds', values.seconds),
    p7_tasks: Math.ceil(positive('p7-tasks', values['p7-tasks'])),
    p7_locks: Math.ceil(positive('p7-locks', values['p7-locks'])),
    p8_operations: Math.ceil(positive('p8-operations', values['p8-operations'])),
    json: values.json,
    fail: !values['no-fail'],
    baselines_only: values.baselines,
    command: ['npm run bench', ...(args.length > 0 ? ['--', ...args] : [])].join(' '),
  };
}

function parse(args: string[]) {
  return parseArgs({
    args,
    allowPositionals: true,
    options: {
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '2' },
      'p7-tasks': { type: 'string', default: '1000000' },
      'p7-locks': { type: 'string', default: '100000' },
      'p8-operations': { type: 'string', default: '1000000' },
      json: { type: 'boolean', default: false },
      'no-fail': { type: 'boolean', default: false },
      baselines: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
}
