/** What a file contains, as far as its name and its first line tell. */
export type FileKind = 'sql' | 'shell' | 'make' | 'image' | 'workflow' | 'package' | 'other';

const KINDS: readonly (readonly [kind: FileKind, path: RegExp])[] = [
  ['sql', /\.(?:sql|psql|pgsql|ddl|mysql)$/],
  [
    'workflow',
    /(?:^|\/)(?:\.github\/(?:workflows|actions)\/.*|\.gitlab-ci.*|azure-pipelines.*|\.circleci\/.*|bitbucket-pipelines|\.drone|buildspec|cloudbuild)\.ya?ml$/,
  ],
  ['image', /(?:^|\/)(?:dockerfile|containerfile)(?:\.[^/]*)?$|\.(?:dockerfile|containerfile)$/],
  ['make', /(?:^|\/)(?:gnu)?makefile(?:\.[^/]*)?$|\.mk$|(?:^|\/)\.?justfile$/],
  ['package', /(?:^|\/)(?:package|composer|deno)\.jsonc?$/],
  [
    'shell',
    /\.(?:sh|bash|zsh|ksh|dash|command)$|(?:^|\/)(?:\.husky|\.githooks|hooks)\/[^/.]+$|(?:^|\/)\.(?:bash|zsh)(?:rc|_profile|env)$|(?:^|\/)\.profile$/,
  ],
];
const SHELL_LINE = /^#!.*\b(?:ba|da|z|k|a)?sh\b/;

export function kindOf(path: string, firstLine: string): FileKind {
  const name = path.toLowerCase();
  for (const [kind, pattern] of KINDS) if (pattern.test(name)) return kind;
  return SHELL_LINE.test(firstLine) ? 'shell' : 'other';
}

const MIGRATION =
  /(?:^|\/)(?:migrations?|migrate|alembic\/versions|flyway|liquibase|changelogs)\/|(?:^|\/)[vur]\d[\w.]*__[^/]+\.sql$|\.migration\.[jt]s$/;
const NO_MIGRATION =
  /(?:^|\/)(?:readme|__init__\.py|index\.[jt]s|env\.py|script\.py\.mako|\.gitkeep)|\.(?:md|txt|snap)$|(?:^|\/)(?:tests?|__tests__|docs?)\/|[._](?:test|spec)\./;

/** Is it a database migration, judged by its path? */
export function isMigration(path: string): boolean {
  const name = path.toLowerCase();
  return MIGRATION.test(name) && !NO_MIGRATION.test(name);
}
