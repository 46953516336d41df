import { type Check, isRehearsal, NEVER, type Run, theme } from '../pattern.ts';

const PATTERNS = {
  migrate: {
    category: 'database_migration',
    operation: 'database_migration',
    reason: 'The schema or the data of a database is changed.',
    instead: 'Let the verification of tier 3 or above run first.',
  },
  'migrate-production': {
    category: 'production_deployment',
    operation: 'production_migration',
    reason: 'The schema or the data of the production database is changed.',
    instead: 'Let a person run migrations of production.',
  },
  'migrate-back': {
    category: 'database_destruction',
    operation: 'reset_database',
    reason: 'Tables are dropped or emptied, with the data in them.',
    instead: 'Write a migration forward, or use a database of your own for tests.',
  },
} as const;

type Id = keyof typeof PATTERNS;

const PRODUCTION = /\b(?:prod|production|live)\b/i;

/** Is production meant, by an option or a variable? */
function isProduction({ texts, command }: Run): boolean {
  if (texts.some((text) => PRODUCTION.test(text))) return true;
  return [...command.variables].some(
    ([name, [value]]) =>
      /ENV|STAGE|TARGET|DATABASE_URL|DSN|CONTEXT/i.test(name) &&
      value !== undefined &&
      PRODUCTION.test(value.text),
  );
}

/** The words of a command line that are no options decide; `lost` is checked before `forward`. */
function migrates(forward: RegExp, lost: RegExp = NEVER): Check<Id> {
  return (run, hit) => {
    const words = run.texts
      .filter((text) => text !== '' && !text.startsWith('-'))
      .slice(0, 5)
      .join(' ');
    const options = run.texts.filter((text) => text.startsWith('-')).join(' ');
    if (
      isRehearsal(
        run,
        '--pretend',
        '--sql',
        '--plan',
        '--check',
        '--show-sql',
        '--create-only',
        '--fake',
        '--preview',
      )
    )
      return;
    if (lost.test(words) || lost.test(`${words} ${options}`)) hit('migrate-back');
    else if (forward.test(words)) hit(isProduction(run) ? 'migrate-production' : 'migrate');
  };
}

const prisma = migrates(
  /^(?:migrate (?:deploy|dev|resolve)|db (?:push|execute|seed))/,
  /^migrate reset|^db push.*--(?:force-reset|accept-data-loss)/,
);
const rails = migrates(
  /\bdb:(?:migrate|rollback|schema:load|structure:load|seed|prepare|setup|forward)/,
  /\bdb:(?:drop|reset|purge|truncate_all|migrate:reset|seed:replant|schema:load\b.*)/,
);

export const migrations = theme(PATTERNS, {
  prisma,
  'rails rake': rails,
  alembic: migrates(/^(?:upgrade|stamp)/, /^downgrade/),
  'django-admin': migrates(/^(?:migrate|loaddata)/, /^(?:flush|reset_db|sqlflush)/),
  'manage.py python python3': (run, hit) => {
    const at = run.texts.findIndex((text) => /(?:^|\/)manage\.py$/.test(text));
    if (run.name !== 'manage.py' && at === -1) return;
    const own: Run = { ...run, args: run.args.slice(at + 1), texts: run.texts.slice(at + 1) };
    if (/^migrate$/.test(own.texts[0] ?? '') && own.texts.includes('zero')) hit('migrate-back');
    else migrates(/^(?:migrate|loaddata)/, /^(?:flush|reset_db)/)(own, hit);
  },
  flask: migrates(/^db (?:upgrade|migrate)/, /^db downgrade/),
  flyway: migrates(/\bmigrate\b|\brepair\b/, /\bclean\b|\bundo\b/),
  liquibase: migrates(/^update/, /^(?:drop-all|dropAll|rollback)/),
  'sequelize sequelize-cli': migrates(
    /^db:(?:migrate|seed)(?::all)?$|^db:(?:migrate|seed) /,
    /^db:(?:drop|migrate:undo|seed:undo)/,
  ),
  knex: migrates(/^(?:migrate:(?:latest|up)|seed:run)/, /^migrate:(?:rollback|down)/),
  typeorm: migrates(/^migration:run|^schema:sync/, /^(?:schema:drop|migration:revert)/),
  'typeorm-ts-node-commonjs typeorm-ts-node-esm': migrates(
    /^migration:run|^schema:sync/,
    /^(?:schema:drop|migration:revert)/,
  ),
  'drizzle-kit': migrates(/^(?:push|migrate)/, /^drop/),
  'mikro-orm': migrates(
    /^migration:up|^schema:update/,
    /^(?:schema:(?:drop|fresh)|migration:(?:down|fresh)|database:drop)/,
  ),
  artisan: migrates(
    /^migrate$|^migrate --|^db:seed/,
    /^(?:migrate:(?:fresh|reset|refresh|rollback)|db:wipe)/,
  ),
  php: (run, hit) => {
    const at = run.texts.findIndex((text) => /(?:^|\/)(?:artisan|bin\/console)$/.test(text));
    if (at === -1) return;
    const own: Run = { ...run, args: run.args.slice(at + 1), texts: run.texts.slice(at + 1) };
    migrates(
      /^migrate(?: |$)|^db:seed|^doctrine:(?:migrations:migrate|schema:update)/,
      /^(?:migrate:(?:fresh|reset|refresh|rollback)|db:wipe|doctrine:(?:database:drop|schema:drop))/,
    )(own, hit);
  },
  mix: migrates(/^ecto\.(?:migrate|load)/, /^ecto\.(?:drop|reset|rollback)/),
  diesel: migrates(/^migration run/, /^(?:database (?:reset|drop)|migration (?:revert|redo))/),
  sqlx: migrates(/^migrate run/, /^(?:database (?:drop|reset)|migrate revert)/),
  'goose dbmate': migrates(/\bup\b|\bmigrate\b/, /\b(?:down|reset|drop|rollback|down-to)\b/),
  'migrate golang-migrate': migrates(/\bup\b|\bgoto\b/, /\b(?:down|drop|force)\b/),
  'sea-orm-cli': migrates(/^migrate (?:up)?$/, /^migrate (?:down|fresh|refresh|reset)/),
  atlas: migrates(/^(?:schema|migrate) apply/, /^schema clean|^migrate down/),
  'dotnet dotnet-ef': migrates(/\bdatabase update\b/, /\bdatabase drop\b|database update 0/),
  supabase: migrates(/^(?:db push|migration up)/, NEVER),
  wrangler: migrates(/^d1 migrations apply/, /^d1 delete/),
  hasura: migrates(/^migrate apply/, /^migrate delete/),
  'node-pg-migrate': migrates(/^up/, /^down/),
  'db-migrate': migrates(/^up/, /^(?:down|reset|db:drop)/),
  rambler: migrates(/^apply/, /^reverse/),
});
