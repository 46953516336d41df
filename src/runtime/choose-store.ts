import { resolve } from 'node:path';
import { StoreFailure } from '../kernel/refusal.ts';

export { NO_STORE } from '../stores/no-store.ts';

export interface ChosenStore {
  /** Undefined: the default, SQLite beside the repository. */
  readonly url: string | undefined;
  /** Something in the environment suggests that the user meant another store. */
  readonly notice?: string | undefined;
}

const TO_SET =
  "set POSTGRES_DSN (or COX_STORE) to the database's connection string, postgres://USER:PASSWORD@HOST:5432/postgres";

/**
 * The only place that decides which store to open: `named` (--store, an option), then COX_STORE, then the
 * variables that users of other coordinators have already set. Throws when the settings contradict each
 * other: opening the wrong store is worse than opening none.
 */
export function chooseStore(named: string | undefined, env: NodeJS.ProcessEnv): ChosenStore {
  const ours = named ?? (env.COX_STORE || undefined);
  if (ours !== undefined) return { url: ours };
  const backend = (env.DB_BACKEND ?? '').trim().toLowerCase();
  const dsn = env.POSTGRES_DSN || undefined;
  switch (backend) {
    case 'sqlite':
      return { url: undefined };
    case 'postgres':
    case 'postgresql':
    case 'supabase':
      if (dsn === undefined)
        throw unusable('POSTGRES_DSN', `DB_BACKEND=${backend} says PostgreSQL but not where: ${TO_SET}.`);
      return { url: checked(dsn) };
    case 'dynamodb':
      throw unusable(
        'COX_STORE',
        'DB_BACKEND=dynamodb says DynamoDB but not which table: set COX_STORE, such as to dynamodb://coxswain?region=eu-central-1.',
      );
    case '':
      return dsn === undefined ? { url: undefined, notice: supabaseNotice(env) } : { url: checked(dsn) };
    default:
      throw unusable(
        'DB_BACKEND',
        `DB_BACKEND=${JSON.stringify(backend.slice(0, 40))}: expected postgres, supabase, dynamodb or sqlite.`,
      );
  }
}

/**
 * A relative path in a store's address is relative to the folder where it was typed. The process that gets
 * the address runs somewhere else: a git hook at the top of its work tree, an agent's hook wherever the agent
 * has gone, a scheduler at home.
 */
export function anchored(url: string, folder: string): string {
  return url.replace(/^(sqlite|files):(.+)$/s, (_, kind, path) => `${kind}:${resolve(folder, path)}`);
}

/**
 * Coxswain reaches Supabase by its PostgreSQL connection; the address of its REST API does not work as a
 * store.
 */
function supabaseNotice({ SUPABASE_URL }: NodeJS.ProcessEnv): string | undefined {
  if (!SUPABASE_URL) return undefined;
  return `SUPABASE_URL alone does not choose the store, which is SQLite on this machine. For Supabase ${TO_SET}.`;
}

/** Never shown: it contains a password, whatever its form. */
function checked(dsn: string): string {
  if (/^postgres(ql)?:\/\//.test(dsn)) return dsn;
  throw unusable(
    'POSTGRES_DSN',
    'POSTGRES_DSN is no URL: expected postgres://USER:PASSWORD@HOST:5432/DATABASE.',
  );
}

function unusable(field: string, message: string): StoreFailure {
  return new StoreFailure('invalid_input', message, { details: { field } });
}
