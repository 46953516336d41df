let neverAborted: AbortSignal | undefined;

/** Created on first use: most calls don't need it, and a short-lived process would have to load its parts. */
export function never(): AbortSignal {
  neverAborted ??= new AbortController().signal;
  return neverAborted;
}
