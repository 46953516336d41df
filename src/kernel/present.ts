type Present<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** Without the undefined keys: spread over the defaults they would overwrite them. */
export function present<T extends object>(given: T | undefined): Present<T> {
  return Object.fromEntries(
    Object.entries(given ?? {}).filter(([, value]) => value !== undefined),
  ) as Present<T>;
}
