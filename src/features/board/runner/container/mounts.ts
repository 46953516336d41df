export interface Mount {
  readonly source: string;
  readonly target: string;
  readonly writable: boolean;
}

/**
 * `--mount`, not `--volume`: that one splits at colons, and makes a folder, owned by root, of a source that is missing. Both tools
 * read the argument as a line of CSV.
 */
export function mountArgument({ source, target, writable }: Mount): string {
  const values = ['type=bind', `source=${source}`, `target=${target}`, ...(writable ? [] : ['readonly'])];
  const fields = values.map((value) => (/[",\s]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value));
  return `--mount=${fields.join(',')}`;
}
