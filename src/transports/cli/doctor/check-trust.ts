import type { JsonObject } from '../../../kernel/json.ts';
import type { FoundClient } from '../init/clients/all.ts';
import { type AskedFolder, askCodex } from '../init/clients/ask-codex.ts';
import { claudeStateFile, claudeTrust } from '../init/clients/claude-code.ts';
import type { Site } from '../init/clients/client-setup.ts';
import { geminiTrust } from '../init/clients/gemini-trust.ts';
import { readJson, readText } from './configured.ts';
import { type DoctorFinding, idle, ok, wrong } from './doctor-finding.ts';

/** Each client runs a folder's hooks only with a person's consent: here it is read. `sites`: the worktree at hand first. */
export async function checkTrust(found: FoundClient, sites: readonly Site[]): Promise<DoctorFinding> {
  switch (found.client.name) {
    case 'claude-code':
      return claudeTrusts(sites);
    case 'codex':
      return await codexTrusts(found, sites);
    case 'gemini-cli':
      return geminiTrusts(sites);
  }
}

function claudeTrusts([site]: readonly Site[]): DoctorFinding {
  const check = 'claude-code trust';
  const state =
    site === undefined ? undefined : (readJson(claudeStateFile(site.env)) as JsonObject | undefined);
  if (site !== undefined && claudeTrust(site, state) === true) return ok(check, 'the folder is trusted');
  return idle(
    check,
    'Claude Code will ask whether you trust this folder',
    'Start `claude` here once and say yes.',
  );
}

/** Codex itself is asked: how it hashes a hook is its own affair. */
async function codexTrusts({ program }: FoundClient, sites: readonly Site[]): Promise<DoctorFinding> {
  const check = 'codex trust';
  if (program === undefined) return idle(check, 'codex is not on the PATH and cannot be asked');
  let asked: AskedFolder[];
  try {
    asked = await askCodex(
      program,
      sites.map(({ root }) => root),
      sites[0]?.env ?? {},
    );
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    return idle(
      check,
      `Codex did not say which hooks it trusts (${said})`,
      'Start `codex` here and look at /hooks.',
    );
  }
  const unread = asked.filter(({ found }) => found === 0).map(({ folder }) => folder);
  if (unread.length > 0)
    return wrong(
      check,
      `Codex does not read the hooks of ${unread.join(', ')}`,
      'Run `cox init --trust`, or start `codex` there and say that you trust the folder.',
    );
  // All worktrees have the same hooks, so the worst result counts.
  const worst = asked.reduce((one, other) => (other.idle > one.idle ? other : one));
  if (worst.idle === 0) return ok(check, `all ${worst.found} hooks are trusted`);
  return wrong(
    check,
    `${worst.idle} of ${worst.found} hooks are not trusted and do not run`,
    'Run `cox init --trust`, or start `codex` here, then /hooks, and trust them.',
  );
}

function geminiTrusts(sites: readonly Site[]): DoctorFinding {
  const check = 'gemini-cli trust';
  const verdicts = sites.map(({ root, env }) => ({ root, trust: geminiTrust(root, env, readText) }));
  const open = verdicts.filter(({ trust }) => trust === 'refused' || trust === 'unasked');
  if (open.length === 0)
    return ok(
      check,
      verdicts.some(({ trust }) => trust === 'everywhere')
        ? 'every folder is trusted, as its settings or GEMINI_CLI_TRUST_WORKSPACE say'
        : 'the folder is trusted',
    );
  const folders = open.map(({ root }) => root).join(', ');
  const isRefused = open.some(({ trust }) => trust === 'refused');
  return wrong(
    check,
    `${folders} ${isRefused ? 'is marked as not trusted' : 'is not trusted yet'}: Gemini CLI starts no ${sites[0]?.scope === 'user' ? 'MCP server' : 'hook or MCP server'} there`,
    isRefused
      ? 'Start `gemini` there, then /permissions.'
      : 'Run `cox init --trust`, or start `gemini` there and trust the folder.',
  );
}
