import { GROUP } from '../../../command-analysis/shell/shell-command.ts';
import { isKnown, type Word } from '../../../command-analysis/shell/word.ts';
import { absolute, isMachineFile, where, whereIs } from '../known-places.ts';
import { type Check, type Hit, type Run, readOptions, theme } from '../pattern.ts';

const PATTERNS = {
  'file-emptied': {
    category: 'overwrite',
    operation: 'empty_file',
    reason: 'The file is emptied; what was uncommitted in it is lost.',
    instead: 'Edit the file, or remove it with `git rm`.',
  },
  'system-overwrite': {
    category: 'overwrite',
    operation: 'overwrite_system_file',
    reason: 'A file of the machine is overwritten.',
    instead: 'Leave the machine as it is, or ask a person.',
  },
  'shell-startup': {
    category: 'overwrite',
    operation: 'overwrite_startup_file',
    reason: 'What every new shell or login runs is changed, for everything that person does.',
    instead: 'Set what is needed for the one command, or ask a person.',
  },
  'repository-overwrite': {
    category: 'overwrite',
    operation: 'overwrite_repository',
    reason: 'A file that git keeps its own state in is overwritten.',
    instead: 'Use git commands.',
  },
} as const;

type Id = keyof typeof PATTERNS;

/** They print nothing: redirecting them to a file empties it. */
const SILENT = /^(?:|:|true|false)$/;
const STARTUP =
  /\/\.(?:bashrc|bash_profile|bash_login|profile|zshrc|zprofile|zshenv|zlogin|login|cshrc|tcshrc|kshrc|inputrc|xinitrc|xprofile)$|\/\.config\/(?:fish|autostart)\//;
/** Written all the time, and no loss: logs, devices, marker files that are empty anyway. */
const HARMLESS =
  /^\/dev\/(?:null|stdout|stderr|tty|fd\/\d+|shm\/.*|tcp\/.*|udp\/.*|pts\/\d+)$|\.(?:log|lock|pid|out|err|tmp|marker|stamp)$|\.(?:gitkeep|keep|nojekyll|touch)$|__init__\.py$/;

function emptied(run: Run, words: readonly Word[], hit: Hit<Id>): void {
  const lost = words.filter((word) => {
    if (!isKnown(word) || HARMLESS.test(word.text) || word.text.startsWith('/dev/')) return false;
    return where(run.command, word, run.place) !== 'temporary';
  });
  if (lost.length > 0) hit('file-emptied', { removes: lost, how: 'file' });
}

/** Does the command print nothing at all? */
function printsNothing({ name, texts, args, command }: Run): boolean {
  if (SILENT.test(name)) return true;
  // Random data is as bad as no data.
  const nothing = /^\/dev\/(?:null|zero|u?random)$/;
  if (/^(?:cat|awk|gawk|head|tail|sed|grep|tac|sort)$/.test(name) && nothing.test(texts.at(-1) ?? ''))
    return true;
  if (name === 'cat' && texts.length === 0) return command.input?.length === 0;
  if (/^(?:echo|printf)$/.test(name))
    return args.every((word) => isKnown(word) && /^(?:-[neE]+)?$/.test(word.text));
  return false;
}

/** Judges a place outside the workspace, whichever program writes it. */
export const placesWritten: Check<Id> = (run, hit) => {
  const { command, place } = run;
  for (const output of command.outputs) {
    const path = absolute(command, output, place);
    if (path === undefined || HARMLESS.test(path)) continue;
    const at = whereIs(path, command, place);
    if (STARTUP.test(path)) hit('shell-startup', { matched: `> ${output.text}` });
    else if (at === 'system' && !path.startsWith('/dev/') && command.elsewhere !== true)
      hit('system-overwrite', { matched: `> ${output.text}` });
    else if (at === 'repository' && !/\/\.git\/(?:info\/exclude|COMMIT_EDITMSG|MERGE_MSG|hooks\/)/.test(path))
      hit('repository-overwrite', { matched: `> ${output.text}` });
  }
  if (command.outputs.length === 0 || command.name === GROUP || !printsNothing(run)) return;
  emptied(
    run,
    command.outputs.filter(({ append }) => append !== true),
    hit,
  );
};

/** A system file, or one that every shell loads at its start, as a target. */
function targets(run: Run, words: readonly Word[], hit: Hit<Id>): void {
  const { command, place } = run;
  for (const word of words) {
    const path = absolute(command, word, place);
    if (path === undefined || HARMLESS.test(path)) continue;
    if (STARTUP.test(path)) hit('shell-startup', { matched: `${run.name} ${word.text}` });
    else if (isMachineFile(path) && whereIs(path, command, place) === 'system' && command.elsewhere !== true)
      hit('system-overwrite', { matched: `${run.name} ${word.text}` });
  }
}

function copy(run: Run, hit: Hit<Id>): void {
  const { operands, values } = readOptions(run.args, '--target-directory', {
    takes: '-t --target-directory -S --suffix -m -o -g',
  });
  const given = values('-t', '--target-directory');
  const target = given[0] ?? operands.at(-1);
  if (target === undefined || operands.length < 2) return;
  if (operands[0]?.text === '/dev/null') emptied(run, [target], hit);
  targets(run, [target], hit);
}

export const overwrite = theme(PATTERNS, {
  'cp install ln gcp': copy,
  mv: (run, hit) => {
    const { operands } = readOptions(run.args, '', { takes: '-t -S' });
    targets(run, operands.slice(-1), hit);
  },
  'tee sponge': (run, hit) => {
    const { operands, has } = readOptions(run.args, '--append');
    targets(run, operands, hit);
    if (!has('-a', '--append') && run.command.input?.length === 0) emptied(run, operands, hit);
  },
  'sed gsed perl': (run, hit) => {
    const { operands, has } = readOptions(run.args, '--in-place', { takes: '-e -f', attaches: 'i' });
    if (!has('-i', '--in-place')) return;
    targets(run, operands, hit);
    // A script that keeps no line: `sed -i d`, `perl -i -ne ''`.
    const [script = '', ...files] = run.texts.filter((text) => !text.startsWith('-'));
    if (run.name === 'perl' ? script.trim() === '' : /^(?:1,\$)?\s*d;?$/.test(script))
      emptied(run, operands.slice(-Math.max(1, files.length)), hit);
  },
  'truncate gtruncate': (run, hit) => {
    const { operands, values } = readOptions(run.args, '--size --no-create', {
      takes: '-s --size -r --reference',
    });
    if (values('-s', '--size').some(({ text }) => /^[<]?0+[a-z]*$/i.test(text))) emptied(run, operands, hit);
  },
  dd: (run, hit) => {
    if (!run.texts.some((text) => /^if=\/dev\/(?:null|zero|u?random)$/.test(text))) return;
    const out = run.args.find(({ text }) => text.startsWith('of='));
    if (out !== undefined) emptied(run, [{ ...out, text: out.text.slice(3) }], hit);
  },
});
