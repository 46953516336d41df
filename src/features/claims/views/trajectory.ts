import { isoTime } from '../../../kernel/clock.ts';
import type { Setting } from '../../../storage/yaml-splices.ts';
import { normEdge } from '../edge.ts';
import { stepsOf, usualSteps } from '../routing/topology.ts';
import type { ViewedClaim } from './claims-read.ts';

const ASSETS = [
  'intent',
  'requirements',
  'design',
  'code',
  'unit_tests',
  'test_cases',
  'uat_tests',
  'cicd',
  'running_system',
  'telemetry',
];
/** An entry that says one of these is work that the log follows. */
const LOG_GOES_ON = ['', 'pending', 'iterating'];
const LEFT_OUT = 'left out';
const ARROW = /<?[-=]+>|[→↔⇒⇔]/u;
/**
 * The trajectory entry for an edge: the one with its name or, as in most files, with the asset it leads to.
 * An edge that the file does not mention gets an entry.
 */
function entryFor({ edge, written }: Pick<ViewedClaim, 'edge' | 'written'>, keys: readonly string[]): string {
  const same = keys.find((key) => normEdge(key) === edge);
  return same ?? longestEnd(edge, keys) ?? afterArrow(written) ?? longestEnd(edge, ASSETS) ?? edge;
}

function longestEnd(edge: string, names: readonly string[]): string | undefined {
  const fitting = names.filter((name) => normEdge(name) !== '' && edge.endsWith(`_${normEdge(name)}`));
  return fitting.sort((a, b) => b.length - a.length)[0];
}

function afterArrow(written: string): string | undefined {
  const last = written.split(ARROW).at(-1)?.trim();
  return last === undefined || last === '' || !ARROW.test(written) ? undefined : normEdge(last);
}

/**
 * The values the file needs to match the log; values that already match are left out. Words of a person that
 * are newer than the claims, or that no claim contradicts, stay. `touched_ms` is when the file was last written.
 */
export function settingsFor(file: unknown, claims: readonly ViewedClaim[], touched_ms: number): Setting[] {
  const feature = asMap(file);
  const trajectory = asMap(feature.trajectory);
  const settings: Setting[] = [];
  const statuses = new Map(Object.entries(trajectory).map(([key, entry]) => [key, statusIn(entry)]));
  // Once one step is written, the others must be written too, in their order. Otherwise the feature would
  // consist of that one step from then on.
  const usual = usualSteps(stepsOf(Object.keys(trajectory))).flatMap(({ to }) => to ?? []);
  const written = claims.filter((claim) => {
    const key = entryFor(claim, [...statuses.keys(), ...usual]);
    // A step that a person left out of the file is as much their word as one that they put in.
    const word = statuses.has(key) || usual.length > 0 ? wordOf(statuses.get(key)) : LEFT_OUT;
    return !stands(word, claim, touched_ms);
  });
  if (written.length > 0) for (const key of usual) statuses.set(key, 'pending');
  for (const claim of written) {
    const key = entryFor(claim, [...statuses.keys()]);
    statuses.set(key, claim.status);
    const entry = trajectory[key];
    const path = ['trajectory', key];
    // `design: pending` is short for its status.
    if (typeof entry === 'string') settings.push({ path, value: claim.status });
    else settings.push(...entrySettings(path, asMap(entry), claim));
  }
  const isTakenUp = written.some(({ status }) => status !== 'converged');
  const status = statusOf(feature.status, [...statuses.values()], isTakenUp);
  if (status !== undefined) settings.push({ path: ['status'], value: status });
  const steps = written.length === 0 ? [] : usual;
  const all = steps.map((key) => ({
    path: ['trajectory', key, 'status'],
    value: statuses.get(key) ?? null,
  }));
  return [...all, ...settings].filter(({ path, value }) => !saysSame(valueAt(file, path), value));
}

/** Whether an entry's status stays as it is, although the log has another one or knows more about it. */
function stands(word: string, claim: ViewedClaim, touched_ms: number): boolean {
  const { started_at_ms = 0, converged_at_ms = 0 } = claim;
  const isNewer = Math.max(started_at_ms, converged_at_ms) <= touched_ms;
  if (isNewer && !LOG_GOES_ON.includes(word)) return true;
  // A released claim says only that no agent works on the edge.
  return claim.status === 'pending' && word !== 'iterating' && word !== 'converged';
}

function entrySettings(
  path: readonly string[],
  entry: Record<string, unknown>,
  claim: ViewedClaim,
): Setting[] {
  const { status, iteration, started_at_ms, converged_at_ms } = claim;
  const settings: Setting[] = [{ path: [...path, 'status'], value: status }];
  if (iteration !== undefined) settings.push({ path: [...path, 'iteration'], value: iteration });
  const times = { started_at: started_at_ms, converged_at: converged_at_ms };
  for (const [name, at_ms] of Object.entries(times)) {
    const isThere = (entry[name] ?? null) !== null;
    if (at_ms !== undefined) settings.push({ path: [...path, name], value: isoTime(at_ms) });
    else if (isThere && name === 'converged_at') settings.push({ path: [...path, name], value: null });
  }
  return settings;
}

/**
 * Undefined: no change. A convergence contradicts `pending`, and the last one `in_progress`; an edge that was
 * taken up again contradicts `converged`. Every other word is a person's, and stays. A file without a status
 * gets none.
 */
function statusOf(
  now: unknown,
  statuses: readonly (string | undefined)[],
  isTakenUp: boolean,
): string | undefined {
  const word = wordOf(now);
  if (word === 'converged') return isTakenUp ? 'in_progress' : undefined;
  if (word !== 'pending' && word !== 'in_progress') return undefined;
  if (statuses.length > 0 && statuses.every((each) => wordOf(each) === 'converged')) return 'converged';
  const isBegun = statuses.some((each) => ['iterating', 'converged'].includes(wordOf(each)));
  return isBegun ? 'in_progress' : undefined;
}

function wordOf(status: unknown): string {
  return typeof status === 'string' ? status.trim().toLowerCase() : '';
}

const MOMENT = /^\d{4}-\d\d-\d\dT/;

/** The same moment can be written in more than one way. */
function saysSame(now: unknown, value: Setting['value']): boolean {
  if (typeof now !== 'string' || typeof value !== 'string') return (now ?? null) === value;
  return now === value || (MOMENT.test(now) && MOMENT.test(value) && Date.parse(now) === Date.parse(value));
}

function statusIn(entry: unknown): string | undefined {
  const status = typeof entry === 'string' ? entry : asMap(entry).status;
  return typeof status === 'string' ? status : undefined;
}

function asMap(value: unknown): Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}

function valueAt(file: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((at, name) => {
    const map = asMap(at);
    return Object.hasOwn(map, name) ? map[name] : undefined;
  }, file);
}
