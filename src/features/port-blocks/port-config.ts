import { limits } from '../../kernel/limits.ts';
import { type Refusal, refuse } from '../../kernel/refusal.ts';
import { stateFolder } from '../../storage/state-folder.ts';
import { BLOCK_PORTS } from './port-block.ts';

export interface PortConfig {
  /** The first port of the first block. */
  readonly base: number;
  /** From the start of one block to the start of the next. */
  readonly range: number;
  readonly ttl_minutes: number;
  readonly sessions_max: number;
  /** Where the allocations of this user on this machine are kept. */
  readonly folder: string;
}

interface Setting {
  readonly standard: number;
  readonly least: number;
  readonly most: number;
  readonly whole: boolean;
}

const SETTINGS = {
  // Below 1024 a program needs special rights to listen.
  PORT_ALLOC_BASE: { standard: 10_000, least: 1024, most: 65_535, whole: true },
  PORT_ALLOC_RANGE: { standard: 100, least: BLOCK_PORTS, most: 65_535, whole: true },
  PORT_ALLOC_TTL_MINUTES: {
    standard: 120,
    least: limits.ttl_minutes_min,
    most: limits.port_ttl_minutes_max,
    whole: false,
  },
  PORT_ALLOC_MAX_SESSIONS: { standard: 20, least: 1, most: 65_535, whole: true },
} as const satisfies Record<string, Setting>;

const PORTS_END = 65_536;

/**
 * The settings from the environment, or a refusal for the first invalid one. Long-lived doors check them at
 * start.
 */
export function readPortConfig(env: NodeJS.ProcessEnv): PortConfig | Refusal {
  const values: Record<string, number> = {};
  for (const [name, setting] of Object.entries(SETTINGS)) {
    const value = readNumber(name, setting, env[name]);
    if (typeof value !== 'number') return value;
    values[name] = value;
  }
  const { PORT_ALLOC_BASE: base = 0, PORT_ALLOC_RANGE: range = 0 } = values;
  const { PORT_ALLOC_MAX_SESSIONS: sessions_max = 0, PORT_ALLOC_TTL_MINUTES: ttl_minutes = 0 } = values;
  const end = base + range * sessions_max;
  if (end > PORTS_END)
    return invalid(
      'PORT_ALLOC_MAX_SESSIONS',
      `blocks below port ${PORTS_END}: base ${base} + range ${range} × ${sessions_max} sessions is ${end}`,
    );
  const folder = stateFolder(env);
  if (typeof folder !== 'string') return folder;
  return { base, range, ttl_minutes, sessions_max, folder };
}

function readNumber(
  name: string,
  { standard, least, most, whole }: Setting,
  given: string | undefined,
): number | Refusal {
  // An empty variable counts as not set.
  if (given === undefined || given === '') return standard;
  const value = (whole ? /^\d+$/ : /^\d+(\.\d+)?$/).test(given) ? Number(given) : Number.NaN;
  if (value >= least && value <= most) return value;
  const kind = whole ? 'a whole number' : 'a number';
  return invalid(
    name,
    `${kind} of at least ${least} and at most ${most}, not ${JSON.stringify(given.slice(0, 40))}`,
  );
}

function invalid(field: string, expected: string): Refusal {
  return refuse('invalid_input', `${field}: expected ${expected}`, { field, expected });
}
