import { systemClock } from '../../../kernel/clock.ts';
import { findWorkspace } from '../../../kernel/workspace.ts';
import { siteOf, worktreesOf } from '../init/setup-worktrees.ts';
import type { View } from '../output/layout.ts';
import type { Style } from '../output/paint.ts';
import { jsonLine, type Terminal, viewOf } from '../output/terminal.ts';
import { padded, plain } from '../output/text.ts';
import { type CommonOptions, conclude, placeOf, type Result } from '../program/common.ts';
import { checkClients } from './check-clients.ts';
import { checkGit } from './check-git.ts';
import { checkBundle, checkNode, checkProtection, checkStore } from './check-machine.ts';
import type { DoctorFinding } from './doctor-finding.ts';

export type DoctorOptions = CommonOptions;

const SIGNS: Readonly<Record<DoctorFinding['status'], readonly [sign: string, style: Style]>> = {
  ok: ['✔', 'green'],
  wrong: ['✖', 'red'],
  idle: ['–', 'dim'],
};

/** Checks everything that has to work by doing it once. Changes nothing. */
export async function runDoctor(options: DoctorOptions, terminal: Terminal, result: Result): Promise<void> {
  const chosen = placeOf(options, terminal);
  if (!chosen.ok) return await conclude(terminal, chosen.refusal, options, result);
  const workspace = findWorkspace(terminal.cwd);
  const view = viewOf(terminal, { color: options.color, now_ms: systemClock.now_ms() });
  const findings: DoctorFinding[] = [];
  const tell = async (more: readonly DoctorFinding[]) => {
    findings.push(...more);
    if (options.json !== true) for (const finding of more) await terminal.out(lineOf(finding, view));
  };
  await tell([checkNode(), checkBundle(), await checkStore(chosen.place)]);
  await tell(await checkDynamoDb(chosen.place.store, findings));
  const site = siteOf(workspace, 'project', terminal.env);
  await tell(await checkClients(site, worktreesOf(workspace, site).sites));
  await tell([checkGit(workspace), await checkProtection()]);
  const wrong = findings.filter(({ status }) => status === 'wrong').length;
  result.code = wrong === 0 ? 0 : 1;
  if (options.json === true) {
    const checks = findings.map(({ check, status, message, fix }) => ({
      check,
      status,
      message,
      ...(fix === undefined ? {} : { fix }),
    }));
    return await terminal.out(`${jsonLine({ success: wrong === 0, wrong, checks })}\n`);
  }
  await terminal.out(
    wrong === 0 ? 'All is well.\n' : `${wrong} thing${wrong === 1 ? '' : 's'} to put right.\n`,
  );
}

/** Loaded only by those who have one; a store that does not open has been told of. */
async function checkDynamoDb(
  store: string | undefined,
  findings: readonly DoctorFinding[],
): Promise<DoctorFinding[]> {
  const isOpen = findings.some(({ check, status }) => check === 'store' && status === 'ok');
  if (!isOpen || store?.startsWith('dynamodb:') !== true) return [];
  const { checkTable } = await import('./check-dynamodb.ts');
  return [await checkTable(store)];
}

const CHECK_COLUMNS = 20;

function lineOf({ check, status, message, fix }: DoctorFinding, { paint }: View): string {
  const [sign, style] = SIGNS[status];
  const line = `${paint(sign, style)} ${padded(check, CHECK_COLUMNS)} ${plain(message)}\n`;
  return fix === undefined
    ? line
    : `${line}  ${padded('', CHECK_COLUMNS)} ${paint(`→ ${plain(fix)}`, 'cyan')}\n`;
}
