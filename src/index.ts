// The package's front door. It loads next to nothing: a client of a remote server needs neither a store nor the domain.
import type { Coxswain, OpenOptions } from './runtime/coxswain.ts';

export type { Answers } from './client/answers.ts';
export type { CallOptions, Client, Methods } from './client/client.ts';
export type { ConnectOptions } from './client/client-options.ts';
export { connect } from './client/connect.ts';
export type { Refusal } from './kernel/refusal.ts';
export type { Coxswain, OpenOptions } from './runtime/coxswain.ts';

/** The store itself, with everything around it that a door needs. */
export async function open(options: OpenOptions = {}): Promise<Coxswain> {
  const local = await import('./runtime/open.ts');
  return await local.open(options);
}
