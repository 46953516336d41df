import { maskSecrets } from '../../command-analysis/secrets.ts';
import { profileEnforcerOf } from '../../features/trust/enforcement/index.ts';
import { type Standing, writesUnderLock } from '../../features/trust/index.ts';
import { limits } from '../../kernel/limits.ts';
import { isRefusal, type Refusal, refusalCode } from '../../kernel/refusal.ts';
import type { Loaded } from '../../ledger/decision.ts';
import type { Permission } from '../../runtime/access.ts';
import { type HookCall, runsCommands } from './hook-call.ts';
import type { HookPlace } from './hook-place.ts';

function said({ message, remedy }: Refusal): string {
  return `Coxswain: ${message} ${remedy}`;
}

/** What the tool needs from the agent's profile: running commands, writing. Returns why it may not. */
export function standingFor(
  { connection }: HookPlace,
  call: HookCall,
  { loaded, writes }: { readonly loaded: Loaded; readonly writes: boolean },
  permissions: readonly Permission[],
): { standing: Standing | undefined; refusal?: string } {
  const enforcer = profileEnforcerOf(connection);
  if (enforcer === undefined) return { standing: undefined };
  const standing = enforcer.standingIn(loaded);
  // Only a refusal leaves a row: otherwise the check before every tool would fill most of the log.
  const judge = (operation: string, permission: Permission): Refusal | undefined => {
    const refusal = enforcer.judge(standing, { operation, permission });
    if (refusal !== undefined) connection.noteTool(operation, { permission }, refusal);
    return refusal;
  };
  if (runsCommands(call)) {
    for (const permission of ['execute' as const, ...permissions]) {
      const refusal = judge('shell', permission);
      if (refusal !== undefined) return { standing, refusal: said(refusal) };
    }
  }
  const refusal = writes ? judge('edit', 'write') : undefined;
  return refusal === undefined ? { standing } : { standing, refusal: said(refusal) };
}

const NOTED_CHARS_MAX = 1000;

/** Under `audit_all_operations` each use of a tool that the client tells us of has its row, not only what was refused. */
export function noteIfAudited({ connection }: HookPlace, call: HookCall, loaded: Loaded): void {
  const profile = profileEnforcerOf(connection)?.standingIn(loaded).profile;
  if (profile?.guardrails.includes('audit_all_operations') !== true) return;
  const input = maskSecrets(JSON.stringify(call.input)).slice(0, NOTED_CHARS_MAX).toWellFormed();
  connection.noteTool('tool', { tool: call.tool, input }, { success: !call.failed });
}

export function locksFirst(standing: Standing | undefined): boolean {
  return standing !== undefined && writesUnderLock(standing);
}

const PROFILE_CODES = new Set([
  'operation_not_permitted',
  'insufficient_trust_level',
  'resource_limit_exceeded',
]);

export function isAboutProfile(refusal: Refusal): boolean {
  return PROFILE_CODES.has(refusalCode(refusal));
}

/** An edit under a lock that the agent took itself was not counted when the lock was taken. */
export async function countFiles(
  { connection }: HookPlace,
  standing: Standing | undefined,
  names: readonly string[],
): Promise<string | undefined> {
  if (names.length === 0 || standing?.profile.resource_limits.max_file_modifications === undefined)
    return undefined;
  const files = names.slice(0, limits.changeset_files_max);
  // Few profiles have such a limit: for the others nothing more is loaded.
  const { reportUsage } = await import('../../features/trust/operations/report-usage-operation.ts');
  const answer = await connection.performBuilt(reportUsage, { files });
  return isRefusal(answer) ? said(answer) : undefined;
}
