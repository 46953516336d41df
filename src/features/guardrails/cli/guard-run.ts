import { relative } from 'node:path';
import { quoteWord } from '../../../command-analysis/shell/quote.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { isRefusal } from '../../../kernel/refusal.ts';
import type { Terminal } from '../../../transports/cli/output/terminal.ts';
import { plain } from '../../../transports/cli/output/text.ts';
import {
  type CommonOptions,
  cliIdentity,
  cliShowing,
  withStore,
} from '../../../transports/cli/program/common.ts';
import { startChild } from '../../../transports/run/run-child.ts';
import { assessCommandIn } from '../assess-operation.ts';
import { branchesHere } from '../edits/branch.ts';
import { commandGuard, guardAction } from '../guard-step.ts';
import { checkGuardrails } from '../operations.ts';

export interface GuardRunOptions extends CommonOptions {
  readonly dryRun?: boolean;
}

/**
 * Judges a command as a hook would before an agent's shell runs it and, if nothing is against it, runs it.
 * One word is a command line for `sh`; several are a program and its arguments. Answers with the command's
 * exit code, or with what blocks it.
 */
export async function guardRun(
  words: readonly string[],
  options: GuardRunOptions,
  terminal: Terminal,
): Promise<JsonObject | number> {
  const { env, cwd } = terminal;
  const who = cliIdentity(options, env);
  if (!who.ok) return who.refusal;
  const [line = ''] = words;
  const text = words.length === 1 ? line : words.map(quoteWord).join(' ');
  const answer = await withStore(options, terminal, async (coxswain) => {
    const { root } = coxswain.workspace;
    const tree = { root, cwd, env, ...branchesHere };
    const findings = await assessCommandIn(text, tree);
    if (findings.length === 0) return { success: true, safe: true, warnings: [] };
    const connection = coxswain.connect(who.actor, 'operator', cliShowing(env));
    if (options.dryRun === true)
      return await connection.perform(checkGuardrails, { operation_text: text, dry_run: true });
    const guard = commandGuard(text, relative(root, cwd), findings);
    return await connection.performBuilt(guardAction, guard);
  });
  if (isRefusal(answer) || options.dryRun === true) return answer;
  for (const { reason, matched } of (answer.warnings ?? []) as JsonObject[])
    await terminal.err(`coxswain warns: ${plain(reason ?? '')} (${plain(matched ?? '')})\n`);
  const program = words.length === 1 ? ['sh', '-c', line] : words;
  const child = startChild(program, { cwd, env }, (said) => void terminal.err(`cox guard: ${said}\n`));
  const code = await child.ended;
  child.letGo();
  return code;
}
