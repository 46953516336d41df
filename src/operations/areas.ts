import { type Area, areaName } from '../kernel/area.ts';
import type { Refusal } from '../kernel/refusal.ts';
import type { Step } from '../operation.ts';

export interface AreasInput {
  file_path?: string | undefined;
  file_paths?: string[] | undefined;
}

/**
 * What a call names, each once; `single` when it was named by the one path, and so is to be answered. `list`: what the caller knows
 * the list as, for what is wrong in it.
 */
export function namedAreas(
  { file_path, file_paths }: AreasInput,
  step: Step,
  list = 'file_paths',
): { areas: Area[]; single: boolean } | Refusal {
  const areas = new Map<string, Area>();
  const named =
    file_path === undefined
      ? (file_paths ?? []).map((path, index) => [path, `${list}.${index}`] as const)
      : [[file_path, 'file_path'] as const];
  for (const [path, field] of named) {
    const area = step.area(path, field);
    if ('success' in area) return area as Refusal;
    areas.set(areaName(area), area);
  }
  return { areas: [...areas.values()], single: file_path !== undefined };
}
