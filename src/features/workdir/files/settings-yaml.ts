import { z } from 'zod';
import type { FileProblem } from '../../../storage/file-problem.ts';
import { depthProblem } from '../../../storage/yaml-depth.ts';
import { readYaml } from '../../../storage/yaml-file.ts';
import { DEFAULT_WORKDIR, type WorkdirSettings } from '../workdir-settings.ts';
import { AGENT_NAME } from './task-yaml.ts';

export type ParsedSettings =
  | { readonly ok: true; readonly settings: WorkdirSettings }
  | { readonly ok: false; readonly problems: readonly FileProblem[] };

/** Each type is looked up separately, in every pass. */
const TYPES_MAX = 50;
const HOUR_MS = 3_600_000;
const hours = z
  .number()
  .positive()
  .max(24 * 366, 'at most a year')
  .optional();

const schema = z.strictObject({
  timeout_hours: hours,
  silent_hours: hours,
  archive_days: z.number().min(0).max(3660, 'at most ten years').optional(),
  serialise_conflicts: z.boolean().optional(),
  mirror: z.boolean().optional(),
  take_from_queue: z
    .record(
      z.string().regex(/^(?:\*|[\w.:-]{1,64})$/, 'a type of tasks, or *'),
      z.string().regex(AGENT_NAME, 'the name of an agent'),
    )
    .refine((types) => Object.keys(types).length <= TYPES_MAX, `at most ${TYPES_MAX} types`)
    .optional(),
});

/** `coordinator.yml`: the settings of a pass. An unknown key is a mistake, since it would have no effect. */
export function parseSettings(text: string): ParsedSettings {
  const deep = depthProblem(text);
  if (deep !== undefined) return { ok: false, problems: [deep] };
  const { value, problems } = readYaml(text, schema, schema, { key_lines: true });
  if (value === undefined || problems.length > 0) return { ok: false, problems };
  const { timeout_hours, silent_hours, archive_days, serialise_conflicts, mirror, take_from_queue } = value;
  const { timeout_ms, silent_ms, archive_ms } = DEFAULT_WORKDIR;
  return {
    ok: true,
    settings: {
      timeout_ms: timeout_hours === undefined ? timeout_ms : timeout_hours * HOUR_MS,
      silent_ms: silent_hours === undefined ? silent_ms : silent_hours * HOUR_MS,
      archive_ms: archive_days === undefined ? archive_ms : archive_days * 24 * HOUR_MS,
      serialise_conflicts: serialise_conflicts ?? DEFAULT_WORKDIR.serialise_conflicts,
      mirror: mirror ?? DEFAULT_WORKDIR.mirror,
      take_from_queue: take_from_queue ?? DEFAULT_WORKDIR.take_from_queue,
    },
  };
}
