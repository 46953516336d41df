export interface Mount {
  readonly source: string;
  readonly target: string;
  readonly writable: boolean;
}

/**
 * `--mount`, not `--volume`: that one splits at colons, and creates a missing source as a folder owned by
 * root. Both tools read the argument as a line of CSV.
 */
export function mountArgument({ source, target, writable }: Mount): string {
  const values = ['type=bind', `source=${source}`, `target=${target}`, ...(writable ? [] : ['readonly'])];
  const fields = values.map((value) => (/[",\s]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value));
  return `--mount=${fields.join(',')}`;
}
