import { findActs, found } from '../../../command-analysis/shell/prints.ts';
import { isKnown, literal, type Word } from '../../../command-analysis/shell/word.ts';
import { where } from '../known-places.ts';
import { type Hit, type Run, readOptions, theme } from '../pattern.ts';

const GONE = 'Everything below is deleted, also what git does not have.';
const NARROW = 'Remove single files by name, or `git rm` what is tracked.';

const PATTERNS = {
  'rm-recursive': { category: 'mass_deletion', operation: 'recursive_delete', reason: GONE, instead: NARROW },
  'rm-many': {
    category: 'mass_deletion',
    operation: 'mass_delete',
    reason: 'All files that match are deleted, also those that git does not have.',
    instead: NARROW,
  },
  'rm-outside': {
    category: 'mass_deletion',
    operation: 'delete_outside',
    reason: 'The file is outside the workspace: no git brings it back.',
    instead: 'Leave files outside the workspace alone, or ask a person.',
  },
  'rm-database': {
    category: 'database_destruction',
    operation: 'delete_database',
    reason: 'The file is a database: what is in it is nowhere else.',
    instead: 'Move it aside, or ask a person.',
  },
  'rm-backup': {
    category: 'mass_deletion',
    operation: 'delete_backup',
    reason: 'The file is a backup: what is in it may be nowhere else.',
    instead: 'Leave it, or ask a person.',
  },
  'trash-empty': {
    category: 'mass_deletion',
    operation: 'empty_trash',
    reason: 'What was kept for the case of a mistake is deleted for good.',
    instead: 'Leave the trash to the person.',
  },
  'rm-repository': {
    category: 'mass_deletion',
    operation: 'delete_repository',
    reason: 'This is git itself: the history is lost with everything that was not pushed.',
    instead: 'Leave .git alone.',
  },
  'find-delete': {
    category: 'mass_deletion',
    operation: 'find_delete',
    reason: 'Everything that is found is deleted, also what git does not have.',
    instead: 'Look with -print first; remove single files by name.',
  },
  'rsync-delete': {
    category: 'mass_deletion',
    operation: 'sync_delete',
    reason: 'What the source does not have is deleted at the target.',
    instead: 'Run it with --dry-run first, or without --delete.',
  },
  shred: {
    category: 'mass_deletion',
    operation: 'shred',
    reason: 'The contents are overwritten so that nothing brings them back.',
    instead: 'Remove the file with rm.',
  },
  'mv-null': {
    category: 'mass_deletion',
    operation: 'move_to_null',
    reason: 'What is moved there is gone, or the device is.',
    instead: 'Remove single files by name.',
  },
} as const;

type Id = keyof typeof PATTERNS;

const DATABASE = /\.(?:sqlite3?|db3?|mdb|rdb|dump|dbf)$|\.sql\.(?:gz|zst|bz2)$/i;

const ARCHIVE =
  /\.(?:tar|t[gx]z|tbz2?|zip|gz|bz2|xz|zst|lz4|7z|sql|dump|bak|csv|jsonl?|xml|db|rdb|bson|parquet|enc|gpg|age|img|qcow2|vmdk|vhdx?)$/i;
/** `backups/app.sql`, `pg_backup/base.tar`, `db-backup-2026.tgz`. */
const BACKUP = /(?:^|[/_.-])backups?(?:[_.-][^/]*)?\/[^/]+$|(?:^|[/_.-])backups?(?:[_.\d-][^/]*)?$/i;

/** Judges what would be removed, each path by its place. */
function removed(run: Run, paths: readonly Word[], recursive: boolean, hit: Hit<Id>): void {
  const { command, place } = run;
  const trees: Word[] = [];
  const patterns: Word[] = [];
  for (const path of paths) {
    const at = where(command, path, place);
    const listed = !isKnown(path) && /^what (?:xargs|parallel) reads$/.test(path.unknown ?? '');
    if (at === 'repository') hit('rm-repository', { matched: `${run.name} ${path.text}` });
    else if (recursive) trees.push(path);
    else if (listed || path.glob || at === 'root') patterns.push(path);
    else if (DATABASE.test(path.text) && at !== 'temporary')
      hit('rm-database', { removes: [path], how: 'file' });
    else if (at === 'inside' && ARCHIVE.test(path.text) && BACKUP.test(path.text))
      hit('rm-backup', { removes: [path], how: 'file' });
    else if (at === 'system' || at === 'outside') hit('rm-outside', { removes: [path], how: 'file' });
  }
  if (trees.length > 0) hit('rm-recursive', { removes: trees, how: 'tree' });
  if (patterns.length > 0) hit('rm-many', { removes: patterns, how: 'glob' });
}

function rm(run: Run, hit: Hit<Id>): void {
  const options = readOptions(
    run.args,
    '--recursive --force --dir --interactive --no-preserve-root --one-file-system --verbose',
  );
  removed(run, options.operands, options.has('-r', '-R', '--recursive'), hit);
}

/** Programs that always remove whole trees. */
function trees(run: Run, hit: Hit<Id>): void {
  const { operands, has } = readOptions(run.args, '--dry-run --interactive', {
    takes: '--max-retries --retry-delay --backoff',
  });
  if (has('--dry-run', '-d')) return;
  removed(
    run,
    operands.map((word) => (/[*?]/.test(word.text) ? { ...word, glob: true } : word)),
    true,
    hit,
  );
}

function find(run: Run, hit: Hit<Id>): void {
  if (!findActs(run.args, '-delete')) return;
  const places = found(run.args);
  if (places.some((path) => where(run.command, path, run.place) === 'repository')) hit('rm-repository');
  else hit('find-delete', { removes: places, how: 'glob' });
}

export const RSYNC_TAKES =
  '-e --rsh --exclude --include --filter --exclude-from --include-from --files-from --rsync-path --log-file --partial-dir --temp-dir -f -T -B -M --bwlimit --port --out-format --timeout --chmod --chown';

function rsync(run: Run, hit: Hit<Id>): void {
  const { has, operands } = readOptions(run.args, '--delete --dry-run', {
    takes: RSYNC_TAKES,
  });
  if (has('-n', '--dry-run')) return;
  const deletes = run.texts.some((text) => /^--del(?:ete(?:-\w+)*)?$|^--remove-source-files$/.test(text));
  const target = operands.at(-1);
  if (deletes && target !== undefined) {
    const remote = /^[^/]+:/.test(target.text);
    hit('rsync-delete', remote ? {} : { removes: [target], how: 'tree' });
  }
}

function move(run: Run, hit: Hit<Id>): void {
  const { operands, values } = readOptions(run.args, '--target-directory', {
    takes: '-t --target-directory -S --suffix',
  });
  const target = values('-t', '--target-directory')[0] ?? operands.at(-1);
  if (/^\/dev\/null/.test(target?.text ?? '')) {
    hit('mv-null');
    return;
  }
  for (const source of operands.slice(0, values('-t', '--target-directory').length > 0 ? undefined : -1)) {
    const at = where(run.command, source, run.place);
    if (at === 'repository' || (at === 'root' && !source.glob))
      hit('rm-repository', { matched: `mv ${source.text}` });
    else if (at === 'system') hit('rm-outside', { matched: `mv ${source.text}` });
  }
}

/** `Remove-Item -Recurse`, `rd /s`, `del /s`. */
function windows(run: Run, hit: Hit<Id>): void {
  const recursive = run.texts.some((text) => /^(?:-r(?:ecurse|ec)?|\/s)$/i.test(text));
  if (!recursive) return;
  const paths = run.args.filter(({ text }) => !/^[-/][a-z]+$/i.test(text));
  hit('rm-recursive', { removes: paths.length > 0 ? paths : [literal('.')], how: 'tree' });
}

export const deletion = theme(PATTERNS, {
  'rm srm grm': rm,
  unlink: (run, hit) => removed(run, run.args, false, hit),
  'rimraf del-cli': trees,
  'trash-empty trash-rm': (_run, hit) => hit('trash-empty'),
  gio: (run, hit) => {
    if (run.texts[0] === 'trash' && run.texts.includes('--empty')) hit('trash-empty');
  },
  'find gfind': find,
  rsync,
  mv: move,
  'shred wipe': (run, hit) => {
    const { operands } = readOptions(run.args, '--remove --force', {
      takes: '-n -s --iterations --size --random-source',
    });
    const paths = operands.filter((word) => where(run.command, word, run.place) !== 'temporary');
    if (paths.length > 0) hit('shred');
  },
  'remove-item ri rd rmdir del erase': windows,
  tar: (run, hit) => {
    if (run.texts.includes('--remove-files')) hit('rm-many');
  },
  rclone: (run, hit) => {
    if (
      /^(?:delete|purge|sync|cleanup|rmdirs)$/.test(run.texts[0] ?? '') &&
      !run.texts.some((text) => /^(?:--dry-run|-n)$/.test(text))
    )
      hit('rsync-delete');
  },
});
