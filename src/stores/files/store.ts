import type { JsonObject } from '../../kernel/json.ts';
import { StoreFailure } from '../../kernel/refusal.ts';
import type { Trail } from '../../ledger/audit/audit-port.ts';
import type { Decision, Needs, Outcome, Taking } from '../../ledger/decision.ts';
import type { LogEntry, Request, Unplaced } from '../../ledger/log.ts';
import type { Serialised, Serialiser } from '../../ledger/serialiser.ts';
import type { Store, StoreContext } from '../../ledger/store-port.ts';
import { type OpenedFile, openSqliteFile } from '../sqlite/store.ts';
import { arrivals } from './arrivals.ts';
import { FilesTrail } from './audit-trail.ts';
import { type Layout, layoutOf, prepareFolders } from './folder-layout.ts';
import { FilesJournal } from './journal.ts';
import { Inbox, pendingOutcome } from './serialise-line.ts';

/** One journal for each open file: the file's one writer writes its lines. */
const journals = new WeakMap<OpenedFile, FilesJournal>();

/**
 * A log of plain lines in a folder that people and other implementations read. Beside it is a file with what
 * is derived from the log: records, indexes, audit rows. The file's write lock is the writer's seat: a kernel
 * lock that ends with its holder.
 */
export async function openFiles(named: string, context: StoreContext): Promise<Store> {
  // Most likely a variable that is not set; the current folder would be used instead.
  if (named === '')
    throw new StoreFailure(
      'store_unsupported',
      'The store names no folder: expected such as files:.ai-workspace.',
    );
  const layout = layoutOf(named);
  prepareFolders(layout);
  const { store, file } = await openSqliteFile(layout.state, context, async (opened) => {
    await prepareTables(opened, context.project ?? 'default');
    const { statements } = opened.writer;
    const journal = new FilesJournal(layout, opened.database, statements, context);
    statements.journal = journal;
    journals.set(opened, journal);
  });
  const journal = journals.get(file);
  if (journal === undefined) throw new Error(`${layout.state} is open without its log`);
  return new FilesStore(store, file, journal, layout, context);
}

/** How far the log has been taken in, and where in it to find rows that are stored nowhere else. */
const TABLES = `
  CREATE TABLE IF NOT EXISTS journal (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    bytes INTEGER NOT NULL,
    tail INTEGER NOT NULL,
    home TEXT NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS chapters (
    first INTEGER PRIMARY KEY,
    last INTEGER NOT NULL,
    offset INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    position_before INTEGER NOT NULL,
    at_ms_before INTEGER NOT NULL
  ) STRICT;`;

/** Many processes may open a new folder at once. */
async function prepareTables({ database, writer }: OpenedFile, home: string): Promise<void> {
  await writer.inTransaction(() => {
    database.exec(TABLES);
    database.prepare('INSERT OR IGNORE INTO journal (one, bytes, tail, home) VALUES (1, 0, 0, ?)').run(home);
  }, false);
}

const AWAY: ReadonlySet<unknown> = new Set(['database_unavailable', 'store_unusable']);

class FilesStore implements Store, Serialiser {
  readonly inOrder = true;
  readonly #inner: Store;
  readonly #file: OpenedFile;
  readonly #journal: FilesJournal;
  readonly #layout: Layout;
  readonly #context: StoreContext;
  readonly #inbox: Inbox;

  constructor(inner: Store, file: OpenedFile, journal: FilesJournal, layout: Layout, context: StoreContext) {
    this.#context = context;
    this.#inbox = new Inbox(layout, file.writer, context, journal.home);
    this.#inner = inner;
    this.#file = file;
    this.#journal = journal;
    this.#layout = layout;
  }

  get trail(): Trail {
    return new FilesTrail(this.#inner.trail, this.#journal.history);
  }

  get dropped(): number {
    return this.#inner.dropped;
  }

  async run<A extends JsonObject>(request: Request, decision: Decision<A>): Promise<Outcome<A>> {
    const { command } = decision;
    if (command === undefined || this.#context.proposals?.proposalOf(command) === undefined)
      return await this.#inner.run(request, decision);
    try {
      // Earlier proposals are decided first.
      await this.#inbox.serialise();
      return await this.#inner.run(request, decision);
    } catch (error) {
      const proposal_id = isAway(error) ? this.#inbox.leave(request, command) : undefined;
      if (proposal_id === undefined) throw error;
      return pendingOutcome(proposal_id);
    }
  }

  async take<A extends JsonObject>(request: Request, taking: Taking<A>): Promise<Outcome<A>> {
    return await this.#inner.take(request, taking);
  }

  async find(project: string, needs: Needs) {
    await this.#settle();
    return await this.#inner.find(project, needs);
  }

  note(row: Unplaced): void {
    this.#inner.note(row);
  }

  async read(project: string, after: number, limit: number) {
    await this.#settle();
    const { history } = this.#journal;
    if (after >= history.end) return await this.#inner.read(project, after, limit);
    const entries: LogEntry[] = [];
    for (const entry of history.after(after)) {
      if (entries.length >= limit) break;
      if (entry.project === project) entries.push(entry);
    }
    const { safe } = await this.#inner.read(project, history.end, 1);
    if (entries.length > 0) return { entries, safe };
    return await this.#inner.read(project, history.end, limit);
  }

  watch(project: string, signal: AbortSignal): AsyncIterable<void> {
    return this.#inner.watch(project, signal);
  }

  async describe(): Promise<JsonObject> {
    await this.#settle();
    const { engine: _, file: __, ...rest } = await this.#inner.describe();
    return { engine: 'files', folder: this.#layout.folder, log: this.#layout.log, ...rest };
  }

  async serialise(): Promise<Serialised> {
    return await this.#inbox.serialise();
  }

  arrivals(signal: AbortSignal): AsyncIterable<void> {
    return arrivals(this.#layout.inbox, this.#context.clock, signal);
  }

  async close(): Promise<void> {
    await this.#inner.close();
  }

  /** A reader sees what is in the log, including lines that another program has just written. */
  async #settle(): Promise<void> {
    if (!this.#journal.isBehind()) return;
    await this.#file.writer.inTransaction(() => {}, false);
  }
}

/** Also true where only the inbox is writable. */
function isAway(error: unknown): boolean {
  return error instanceof StoreFailure && AWAY.has(error.refusal.error);
}
