import { GIT_CONFIG_READS, GIT_CONFIG_TAKES } from '../../../command-analysis/shell/git-names.ts';
import { parseOptions } from '../../../command-analysis/shell/program-options.ts';
import { isKnown } from '../../../command-analysis/shell/word.ts';
import { CONTROL_FILE_PATTERN } from '../edits/control-files.ts';
import { type Check, type Hit, type Run, theme } from '../pattern.ts';
import { type GitCommand, gitOf } from './git-command.ts';
import { type SettingDanger, settingDanger, unsettingDanger } from './git-settings.ts';

const PATTERNS = {
  'own-approval': {
    category: 'control_plane',
    operation: 'decide_approval',
    reason: 'Only a person decides what waits for a person.',
    instead: 'Wait: the person is told, and the answer comes back.',
  },
  'own-rules': {
    category: 'control_plane',
    operation: 'change_rules',
    reason: 'An agent would change the rules that it works under.',
    instead: 'Ask a person to change the profile or the policy.',
  },
  'own-keys': {
    category: 'control_plane',
    operation: 'make_key',
    reason: 'An agent would give itself a key.',
    instead: 'Ask a person for a key.',
  },
  'own-removal': {
    category: 'control_plane',
    operation: 'remove_coordination',
    reason: 'The coordination of all agents here would be switched off.',
    instead: 'Ask a person.',
  },
  'own-setup': {
    category: 'control_plane',
    operation: 'change_setup',
    reason: 'It would change how the agents here are wired to the checks.',
    instead: 'Ask a person to run it; `cox doctor` and `cox init --dry-run` only look.',
  },
  'control-file': CONTROL_FILE_PATTERN,
  'hooks-off': {
    category: 'control_plane',
    operation: 'disable_hooks',
    reason: 'The hooks that check commits and pushes would not run.',
    instead: 'Commit as usual and mend what the hooks complain about.',
  },
  'git-program': {
    category: 'control_plane',
    operation: 'set_git_program',
    reason: 'Git would start this program by itself from then on, past every check of commands.',
    instead: 'Run the program yourself, or ask a person to configure it.',
  },
} as const;

type Id = keyof typeof PATTERNS;

const words = ({ texts }: Run): string[] => texts.filter((text) => text !== '' && !text.startsWith('-'));

const cox: Check<Id> = (run, hit) => {
  const [group = '', verb = ''] = words(run);
  const said = `${group} ${verb}`;
  if (/^(?:approve|deny) |^approvals? (?:approve|deny|decide)/.test(`${said} `)) hit('own-approval');
  else if (/^(?:keys?) (?:create|issue|revoke|rotate|delete)/.test(said)) hit('own-keys');
  else if (
    /^(?:profiles?|verification|network|policy|rulebook|guardrails?) (?:apply|assign|set|edit|unassign|raise|lower|remove|delete|reset|update)/.test(
      said,
    )
  )
    hit('own-rules');
  else if (
    (group === 'init' && run.texts.includes('--undo')) ||
    said === 'git uninstall' ||
    said === 'audit prune'
  )
    hit('own-removal');
  else if (
    (group === 'init' && !run.texts.includes('--dry-run')) ||
    (said === 'git install' && run.texts.some((text) => /^(?:--locks=)?warn$/.test(text)))
  )
    hit('own-setup');
};

const git: Check<Id> = (run, hit) => {
  const command = gitOf(run);
  if (command === undefined) return;
  const set = command.settings.some(([key]) => key === 'core.hookspath');
  const { variables } = run.command;
  const byVariable = [...variables].some(([name, [value]]) => {
    const number = /^GIT_CONFIG_KEY_(\d+)$/.exec(name)?.[1];
    return number !== undefined && /^core\.hookspath$/i.test(value?.text ?? '');
  });
  if (set || byVariable) hit('hooks-off');
  if (command.verb === 'config') configured(command, hit);
  if (command.verb === 'clone')
    for (const { text } of parseOptions(command.rest, { takes: '-c --config' }).values('-c', '--config')) {
      const [key = '', ...value] = text.split('=');
      told(settingDanger(key, value.join('=')), hit);
    }
};

function told(danger: SettingDanger | undefined, hit: Hit<Id>): void {
  if (danger !== undefined) hit(danger);
}

/** `git config a.b c` and `git config set a.b c`; with a name alone it only asks. */
function configured({ rest }: GitCommand, hit: Hit<Id>): void {
  const options = parseOptions(rest, { takes: GIT_CONFIG_TAKES });
  const [first, ...others] = options.operands;
  const verb = /^(?:get|list|set|unset|rename-section|remove-section|edit)$/.exec(first?.text ?? '')?.[0];
  const [name, value] = verb === undefined ? options.operands : others;
  if (verb === 'get' || verb === 'list' || options.has(...GIT_CONFIG_READS)) return;
  const longs = rest.map(({ text }) => text).filter((text) => text.startsWith('--'));
  if (verb === 'edit' || options.has('-e') || longs.some((text) => /^--ed/.test(text))) hit('git-program');
  else if (
    /^(?:unset|remove-section|rename-section)$/.test(verb ?? '') ||
    longs.some((text) => /^--(?:uns|rem|ren)/.test(text))
  )
    told(unsettingDanger(name?.text ?? ''), hit);
  else if (isKnown(name) && value !== undefined)
    told(settingDanger(name.text, isKnown(value) ? value.text : undefined), hit);
}

export const controlPlane = theme(PATTERNS, {
  'cox coxswain': cox,
  'node npx bun tsx': (run, hit) => {
    // Run from its sources: `node bin/cox approve`.
    const at = run.texts.findIndex((text) =>
      /(?:^|\/)cox(?:swain)?$|(?:^|\/)doors\/cli\/main\.[jt]s$/.test(text),
    );
    if (at !== -1) cox({ ...run, args: run.args.slice(at + 1), texts: run.texts.slice(at + 1) }, hit);
  },
  git,
  'npm pnpm yarn bun': (run, hit) => {
    const [verb = '', ...names] = words(run);
    if (/^(?:uninstall|unlink|remove|rm|un|r)$/.test(verb) && names.includes('coxswain')) hit('own-removal');
  },
  'claude codex gemini': (run, hit) => {
    const [group, verb = '', name] = words(run);
    if (group === 'mcp' && /^(?:remove|rm)$/.test(verb) && name === 'coxswain') hit('own-removal');
  },
  'pkill killall': (run, hit) => {
    if (run.texts.some((text) => /^(?:cox|coxswain)\b|\bcox (?:serve|mcp)/.test(text))) hit('own-removal');
  },
});
