import { type Area, areaName } from '../../../kernel/area.ts';
import type { Refusal } from '../../../kernel/refusal.ts';
import type { Step } from '../../../runtime/operation.ts';

export interface AreasInput {
  file_path?: string | undefined;
  file_paths?: string[] | undefined;
}

/** What a call names, without duplicates. */
export interface NamedAreas {
  readonly areas: Area[];
  /** Named by the single-path parameter, and so answered in that form. */
  readonly single: boolean;
  /** Every name as written, and what it stands for. */
  readonly names: ReadonlyMap<string, Area>;
}

/** `list`: the caller's name for the list, for error messages. */
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
