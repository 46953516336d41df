import type { Client } from '../../shared/agent-clients.ts';
import { readBytes } from './changes.ts';
import type { FoundClient } from './clients/all.ts';
import { askCodex } from './clients/ask-codex.ts';
import type { Request } from './setup-request.ts';
import { Unusable } from './unusable.ts';

/** What is left to do before a client is guarded; undefined: nothing. */
export interface NextStep {
  readonly client: Client;
  readonly title: string;
  readonly left: string | undefined;
}

/**
 * Looks at what is on disk now. `trusted`: trust was just written, so the client is asked whether it accepts
 * it.
 */
export async function nextSteps(request: Request, trusted: boolean): Promise<NextStep[]> {
  return await Promise.all(
    request.chosen.map(async (found) => {
      const { name, title } = found.client;
      const left = leftFor(found, request, trusted);
      const isDone = left === undefined && name === 'codex' && trusted;
      return { client: name, title, left: isDone ? await codexDoubts(found, request) : left };
    }),
  );
}

function leftFor({ client }: FoundClient, { worktrees }: Request, trusted: boolean): string | undefined {
  try {
    const { files, left } = client.consent(worktrees.sites, (path) => readBytes(path)?.toString('utf8'));
    if (left === undefined || files.length === 0 || trusted) return left;
    return `${left} Or let \`cox init --trust\` do it.`;
  } catch (error) {
    if (!(error instanceof Unusable)) throw error;
    return `cannot be looked into: ${error.message}.`;
  }
}

/** We wrote what Codex itself would write; only Codex can say whether this version accepts it. */
async function codexDoubts({ program }: FoundClient, request: Request): Promise<string | undefined> {
  const { site, worktrees } = request;
  if (program === undefined)
    return 'is not on the PATH; once it is, `cox doctor` asks it whether it trusts the hooks.';
  try {
    const asked = await askCodex(
      program,
      worktrees.sites.map(({ root }) => root),
      site.env,
    );
    const bad = asked.filter(({ found, idle }) => found === 0 || idle > 0).map(({ folder }) => folder);
    return bad.length === 0
      ? undefined
      : `does not take what was written for ${bad.join(', ')}: start \`codex\` there, then /hooks, and trust them.`;
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    return `could not be asked whether it trusts the hooks (${said}): start \`codex\` here and look at /hooks.`;
  }
}
