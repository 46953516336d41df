/** Made when it is first asked for, and kept: what takes a while to make, and most processes never need. */
export function lazily<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
