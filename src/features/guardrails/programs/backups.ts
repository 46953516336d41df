import { textSeen } from '../../../command-analysis/shell/word.ts';
import { type Check, isRehearsal, type Run, readOptions, theme } from '../pattern.ts';

const PATTERNS = {
  'backup-delete': {
    category: 'infrastructure',
    operation: 'delete_backup',
    reason: 'Backups are deleted: what they hold may be nowhere else.',
    instead: 'Look with --dry-run or a listing, and let a person or the backup’s own schedule prune.',
  },
} as const;

type Id = keyof typeof PATTERNS;

const TAKES =
  '-r --repo --repository-file -p --password-file --password-command -o -n --namespace -c --config --stanza --host --tag --keep-last -s --storage --config-file --repo-path --log-level-console';

const said = (run: Run, takes: string): string =>
  readOptions(run.args, '', { takes })
    .operands.map(({ text }) => text)
    .slice(0, 3)
    .join(' ');

/** The first words that are no options name what is done. `only`: without one of these options it only shows what it would do. */
function deletes(verbs: RegExp, only?: RegExp, rehearsed: readonly string[] = []): Check<Id> {
  return (run, hit) => {
    if (isRehearsal(run, ...rehearsed)) return;
    if (only !== undefined && !run.texts.some((text) => only.test(text))) return;
    if (verbs.test(said(run, TAKES))) hit('backup-delete');
  };
}

function withOption(options: RegExp): Check<Id> {
  return (run, hit) => {
    if (!isRehearsal(run) && run.texts.some((text) => options.test(text))) hit('backup-delete');
  };
}

/** Oracle's, which takes its commands from a file, its input or a word. */
const rman: Check<Id> = (run, hit) => {
  const text = [...run.texts, textSeen(run.command.input) ?? ''].join('\n');
  if (/^\s*(?:run\s*\{\s*)?delete\b/im.test(text)) hit('backup-delete');
};

export const backups = theme(PATTERNS, {
  'restic rustic': (run, hit) => {
    // `-n` is a rehearsal here.
    if (isRehearsal(run, '-n')) return;
    if (/^(?:forget|prune)\b/.test(said(run, TAKES.replace(' -n --namespace', '')))) hit('backup-delete');
  },
  'borg attic': (run, hit) => {
    if (isRehearsal(run, '-n')) return;
    const first = said(run, '--remote-path --umask --rsh -r --repo --lock-wait');
    if (/^(?:prune|delete|repo-delete|recreate)\b/.test(first)) hit('backup-delete');
  },
  borgmatic: (run, hit) => {
    if (isRehearsal(run, '-n')) return;
    if (run.texts.some((text) => /^(?:--)?(?:prune|delete|repo-delete)$/.test(text))) hit('backup-delete');
  },
  pgbackrest: deletes(/^(?:expire|stanza-delete|repo-rm)\b/),
  'wal-g wal-e': deletes(/^delete\b/, /^--confirm$/),
  barman: deletes(/^(?:delete|delete-backup)\b/),
  'barman-cloud-backup-delete': (run, hit) => {
    if (!isRehearsal(run) && run.args.length > 0) hit('backup-delete');
  },
  duplicity: deletes(/^(?:remove-\S+|cleanup)\b/, /^--force$/),
  duplicacy: deletes(/^prune\b/),
  kopia: deletes(/^snap(?:shot)?s? (?:delete|expire)\b/, /^--(?:delete|unsafe-ignore-source)$/),
  'rdiff-backup': (run, hit) => {
    if (run.texts[0] === 'remove' || run.texts.some((text) => /^--remove-older-than/.test(text)))
      hit('backup-delete');
  },
  tarsnap: withOption(/^(?:-d|--nuke)$/),
  'proxmox-backup-client': deletes(/^(?:forget|prune|snapshot forget|namespace delete)\b/),
  snapper: deletes(/^(?:delete|remove|rm|cleanup|delete-config)\b/),
  timeshift: withOption(/^--delete(?:-all)?$/),
  sanoid: withOption(/^--(?:force-)?prune(?:-snapshots)?$/),
  btrbk: deletes(/^(?:prune|clean)\b/),
  bup: deletes(/^(?:rm|prune-older|gc)\b/),
  vssadmin: deletes(/^(?:delete|resize) /i),
  wbadmin: deletes(/^delete\b/i),
  wmic: ({ texts }, hit) => {
    if (/shadowcopy/i.test(texts.join(' ')) && texts.some((text) => /^delete$/i.test(text)))
      hit('backup-delete');
  },
  heroku: deletes(/^pg:backups(?::| )(?:delete|unschedule)\b/),
  velero: deletes(
    /^(?:(?:backup|schedule|backup-location) delete|delete (?:backup|schedule|backup-location))/,
  ),
  'pg_probackup pgmoneta-cli': deletes(/^(?:delete|expunge|del-instance)\b/),
  'pbm medusa': deletes(/^(?:delete-(?:backup|pitr)|cleanup|purge)\b/),
  vboxmanage: deletes(/^snapshot \S+ delete\b/),
  'qm pct': deletes(/^delsnapshot\b/),
  b2: deletes(/^(?:rm|delete-\S+|bucket delete|file delete)\b/),
  rman,
});
