import type { FileChange } from './changes.ts';
import { type Extras, type Prepared, prepareInit } from './prepare.ts';
import type { Request } from './setup-request.ts';
import { Unusable } from './unusable.ts';

/** The same plan with consent in it, and what that adds. */
export interface TrustPlan {
  readonly prepared: Prepared;
  readonly changes: readonly FileChange[];
  /** The clients that the consent is for. */
  readonly titles: readonly string[];
}

/** Undefined if no consent is left to ask a person for. */
export async function planTrust(
  request: Request,
  without: Prepared,
  extras: Extras,
): Promise<TrustPlan | undefined> {
  let prepared: Prepared;
  try {
    prepared = await prepareInit(request, { ...extras, trust: true });
  } catch (error) {
    // If one of the client's own files can't be used, only the trust step is skipped; what was already agreed
    // to goes on.
    if (error instanceof Unusable) return undefined;
    throw error;
  }
  const planned = new Map(without.changes.map(({ path, after }) => [path, after?.toString('base64')]));
  const changes = prepared.changes.filter(
    ({ path, after }) => planned.get(path) !== after?.toString('base64'),
  );
  const owners = new Map(prepared.manifest.files.map(({ path, client }) => [path, client]));
  const clients = new Set(changes.map(({ path }) => owners.get(path)));
  const titles = request.chosen.flatMap(({ client }) => (clients.has(client.name) ? [client.title] : []));
  return titles.length === 0 ? undefined : { prepared, changes, titles };
}
