/**
 * Creates a value on first use and keeps it: for values that take a while to make and that most processes
 * never need.
 */
export function lazily<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
