let neverAborted: AbortSignal | undefined;

/** Made when first asked for: most calls ask for none, and a short process would load what it is made of. */
export function never(): AbortSignal {
  neverAborted ??= new AbortController().signal;
  return neverAborted;
}
