import { type Area, areaName } from '../../../kernel/area.ts';
import type { Refusal } from '../../../kernel/refusal.ts';
import type { Step } from '../../../runtime/operation.ts';

export interface AreasInput {
  file_path?: string | undefined;
  file_paths?: string[] | undefined;
}

/** What a call names, each once. */
export interface NamedAreas {
  readonly areas: Area[];
  /** Named by the one path, and so to be answered. */
  readonly single: boolean;
  /** Every name as it was written, and what it stands for. */
  readonly names: ReadonlyMap<string, Area>;
}

/** `list`: what the caller knows the list as, for what is wrong in it. */
export function namedAreas(
  { file_path, file_paths }: AreasInput,
  step: Pick<Step, 'area'>,
  list = 'file_paths',
): NamedAreas | Refusal {
  const areas = new Map<string, Area>();
  const names = new Map<string, Area>();
  const single = file_path !== undefined;
  const paths = single ? [file_path] : (file_paths ?? []);
  for (const [index, path] of paths.entries()) {
    const area = step.area(path, single ? 'file_path' : `${list}.${index}`);
    if ('success' in area) return area as Refusal;
    areas.set(areaName(area), area);
    names.set(path, area);
  }
  return { areas: [...areas.values()], single, names };
}
