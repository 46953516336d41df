import type { Command } from 'commander';
import { operations } from '../../../runtime/operation-list.ts';
import type { Terminal } from '../output/terminal.ts';
import type { Result } from './common.ts';

type Declare = (program: Command, terminal: Terminal, result: Result) => void;

interface Part {
  /** The commands it declares, and the operation groups that it adds to. */
  readonly names: readonly string[];
  load(): Promise<Declare>;
}

/**
 * The commands that are not operations. A command line names one of them; loading and declaring the other
 * ones takes tens of milliseconds.
 */
const PARTS: readonly Part[] = [
  {
    names: ['status', 'serve', 'mcp', 'stats'],
    load: async () => (await import('./services.ts')).declareServices,
  },
  { names: ['proxy'], load: async () => (await import('./services.ts')).declareProxy },
  {
    names: ['serialise'],
    load: async () => (await import('../../../features/claims/cli/serialise-command.ts')).declareSerialise,
  },
  {
    names: ['coordinate'],
    load: async () => (await import('../../../features/workdir/cli/coordinate-command.ts')).declareCoordinate,
  },
  {
    names: ['audit'],
    load: async () => (await import('../../../features/audit/cli/audit-commands.ts')).declareAudit,
  },
  {
    names: ['approve', 'deny', 'approval'],
    load: async () => (await import('../../../features/trust/cli/approve-commands.ts')).declareDecisions,
  },
  {
    names: ['profile'],
    load: async () => (await import('../../../features/trust/cli/profile-commands.ts')).declareProfiles,
  },
  { names: ['watch', 'demo'], load: async () => (await import('../output/looks.ts')).declareLooks },
  {
    names: ['replay', 'log', 'diff'],
    load: async () => (await import('../../../features/audit/cli/travel-commands.ts')).declareTravel,
  },
  {
    names: ['sync'],
    load: async () => (await import('../../../features/audit/cli/sync-command.ts')).declareSync,
  },
  {
    names: ['verify', 'verification'],
    load: async () => (await import('../../../features/verification/cli/verify-commands.ts')).declareVerify,
  },
  { names: ['git'], load: async () => (await import('../../git/cli/git-commands.ts')).declareGit },
  { names: ['run'], load: async () => (await import('../../git/cli/git-commands.ts')).declareRun },
  {
    names: ['guard'],
    load: async () => (await import('../../../features/guardrails/cli/guard-commands.ts')).declareGuard,
  },
  {
    names: ['start'],
    load: async () => (await import('../../../features/claims/cli/fleet-commands.ts')).declareFleet,
  },
  {
    names: ['forage', 'unearth', 'up', 'board'],
    load: async () => (await import('../../../features/board/cli/board-commands.ts')).declareBoard,
  },
  { names: ['init', 'doctor'], load: async () => (await import('./setup-commands.ts')).declareSetup },
  { names: ['dynamodb'], load: async () => (await import('../dynamodb-commands.ts')).declareDynamoDb },
  { names: ['hook'], load: async () => (await import('../hook-command.ts')).declareHook },
];

/** A word that is not a command, such as `help` or a typo, needs all of them, and so does `completion`. */
export function neededFor(word: string | undefined): { groups: readonly string[]; parts: readonly Part[] } {
  const groups = [...new Set(operations.map(({ group }) => group))];
  const parts = PARTS.filter(({ names }) => word !== undefined && names.includes(word));
  if (parts.length === 0 && !groups.includes(word ?? '')) return { groups, parts: PARTS };
  const named = new Set([word, ...parts.flatMap(({ names }) => names)]);
  return { groups: groups.filter((group) => named.has(group)), parts };
}
