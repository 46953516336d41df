import { CONTROL_FILE_PATTERN } from '../edits/control-files.ts';
import { type Check, type Run, theme } from '../pattern.ts';
import { gitOf } from './git-command.ts';

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
  'control-file': CONTROL_FILE_PATTERN,
  'hooks-off': {
    category: 'control_plane',
    operation: 'disable_hooks',
    reason: 'The hooks that check commits and pushes would not run.',
    instead: 'Commit as usual and mend what the hooks complain about.',
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
};

const OFF = /^(?:\/dev\/null|\/nonexistent|\/tmp.*|)$/;

const git: Check<Id> = (run, hit) => {
  const command = gitOf(run);
  if (command === undefined) return;
  const set = command.settings.some(([key, value]) => key === 'core.hookspath' && OFF.test(value));
  const { variables } = run.command;
  const byVariable = [...variables].some(([name, [value]]) => {
    const number = /^GIT_CONFIG_KEY_(\d+)$/.exec(name)?.[1];
    return number !== undefined && /^core\.hookspath$/i.test(value?.text ?? '');
  });
  if (set || byVariable) hit('hooks-off');
  if (command.verb !== 'config') return;
  const at = command.rest.findIndex(({ text }) => /^core\.hookspath$/i.test(text));
  if (at === -1) return;
  const value = command.rest[at + 1];
  const unset = command.rest.some(({ text }) => /^--(?:unset|unset-all)$|^unset$/.test(text));
  if (unset || (value !== undefined && OFF.test(value.text))) hit('hooks-off');
};

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
  'pkill killall': (run, hit) => {
    if (run.texts.some((text) => /^(?:cox|coxswain)\b|\bcox (?:serve|mcp)/.test(text))) hit('own-removal');
  },
});
