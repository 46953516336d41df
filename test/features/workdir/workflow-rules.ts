import { isObject, type JsonObject } from '../../../src/kernel/json.ts';

// The public schema of workflows is on no registry as data (only as types), so these are its main rules, by hand: which keys there
// are at each level, and what has to be there.

const TOP = ['name', 'run-name', 'on', 'permissions', 'env', 'defaults', 'concurrency', 'jobs'];
const JOB = [
  'name',
  'needs',
  'permissions',
  'runs-on',
  'environment',
  'concurrency',
  'outputs',
  'env',
  'defaults',
  'if',
  'steps',
  'timeout-minutes',
  'strategy',
  'continue-on-error',
  'container',
  'services',
];
const STEP = [
  'id',
  'if',
  'name',
  'uses',
  'run',
  'working-directory',
  'shell',
  'with',
  'env',
  'continue-on-error',
  'timeout-minutes',
];
const PERMISSIONS = ['read', 'write', 'none'];
const CRON = /^(?:[\d*,/-]+ ){4}[\d*,/-]+$/;
const ACTION = /^[\w.-]+\/[\w.-]+(?:\/[\w./-]+)?@[\w./-]+$/;

/** Why GitHub would not take it. */
export function workflowProblems(workflow: JsonObject): string[] {
  const problems = unknownKeys(workflow, TOP, 'the workflow');
  const { on, permissions, concurrency, jobs } = workflow;
  if (!isObject(on)) problems.push('on: expected events');
  else {
    const { schedule = [] } = on;
    for (const entry of schedule as JsonObject[])
      if (typeof entry.cron !== 'string' || !CRON.test(entry.cron))
        problems.push('on.schedule: expected a cron');
    if (on.workflow_dispatch === null || on.workflow_dispatch === undefined)
      problems.push('on.workflow_dispatch: expected');
  }
  for (const [name, value] of Object.entries(isObject(permissions) ? permissions : {}))
    if (!PERMISSIONS.includes(String(value))) problems.push(`permissions.${name}: ${String(value)}`);
  if (!isObject(concurrency) || typeof concurrency.group !== 'string')
    problems.push('concurrency: expected a group');
  if (!isObject(jobs) || Object.keys(jobs).length === 0) return [...problems, 'jobs: expected some'];
  return [...problems, ...Object.entries(jobs).flatMap(([id, job]) => jobProblems(id, job as JsonObject))];
}

function jobProblems(id: string, job: JsonObject): string[] {
  const problems = unknownKeys(job, JOB, id);
  if (!/^[A-Za-z_][\w-]*$/.test(id)) problems.push(`${id}: no id of a job`);
  if (typeof job['runs-on'] !== 'string') problems.push(`${id}.runs-on: expected`);
  const steps = Array.isArray(job.steps) ? (job.steps as JsonObject[]) : [];
  if (steps.length === 0) problems.push(`${id}.steps: expected some`);
  for (const [index, step] of steps.entries()) {
    const at = `${id}.steps[${index}]`;
    problems.push(...unknownKeys(step, STEP, at));
    if ((step.uses === undefined) === (step.run === undefined))
      problems.push(`${at}: uses or run, one of them`);
    if (step.uses !== undefined && !ACTION.test(String(step.uses))) problems.push(`${at}.uses: no action`);
    for (const [name, value] of Object.entries(isObject(step.env) ? step.env : {}))
      if (!['string', 'number', 'boolean'].includes(typeof value))
        problems.push(`${at}.env.${name}: no value`);
  }
  return problems;
}

function unknownKeys(map: JsonObject, known: readonly string[], where: string): string[] {
  return Object.keys(map)
    .filter((key) => !known.includes(key))
    .map((key) => `${where}: ${key} is no key`);
}
