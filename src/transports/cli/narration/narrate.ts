import { claimTitle } from '../../../features/board/cli/index.ts';
import { type BoardClaimState, boardClaimKey } from '../../../features/board/index.ts';
import { type TaskState, taskKey } from '../../../features/queue/index.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { shorten } from '../../../kernel/shorten.ts';
import type { EntityKey, EventBody } from '../../../ledger/entity.ts';
import type { LogEntry } from '../../../ledger/log.ts';
import type { Coxswain } from '../../../runtime/coxswain.ts';
import type { Style } from '../output/paint.ts';
import { plain } from '../output/text.ts';
import { refusalWords, type Words, wordsFor } from '../output/words.ts';

/** What happened, as a sentence. */
export interface Sentence {
  readonly position: number;
  readonly at_ms: number;
  readonly text: string;
  readonly style?: Style | undefined;
  /** The event it describes; a refusal has none. */
  readonly event?: EventBody | undefined;
}

const REMEMBERED_MAX = 1000;
const TITLE_CHARS_MAX = 60;

/**
 * Describes the log in plain words. It remembers the titles of tasks and claims, and which agents are known
 * to wait.
 */
export class Narrator {
  readonly #coxswain: Coxswain;
  readonly #titles = new Map<string, string>();
  readonly #waiting = new Set<string>();

  constructor(coxswain: Coxswain) {
    this.#coxswain = coxswain;
  }

  async tell(entries: readonly LogEntry[]): Promise<Sentence[]> {
    await this.#learnTitles(entries);
    return entries.flatMap((entry) => this.#sentences(entry));
  }

  #sentences(entry: LogEntry): Sentence[] {
    const { position, at_ms } = entry;
    const told = new Set<string>();
    const words: (Words & Pick<Sentence, 'event'>)[] = [];
    if (entry.events.length === 0) words.push(...refusalWords(entry));
    for (const event of entry.events) {
      if (this.#isOldNews(event.type, event.data)) continue;
      const unknown = TITLED[event.kind] ?? 'something';
      const told = wordsFor(event, entry, (id) => this.#titles.get(id) ?? unknown);
      words.push(...told.map((each) => ({ ...each, event })));
    }
    // A message to five agents is five events but one sentence.
    return words
      .filter(({ text }) => !told.has(text) && told.add(text))
      .map((each) => ({ position, at_ms, ...each }));
  }

  /** A waiting agent repeats its event every few seconds; it is told once. */
  #isOldNews(type: string, { waiter }: JsonObject): boolean {
    if (type !== 'line_joined' && type !== 'lock_awaited') return false;
    const { id } = waiter as { id: string };
    const known = this.#waiting.has(id);
    if (this.#waiting.size >= REMEMBERED_MAX) this.#waiting.clear();
    this.#waiting.add(id);
    return known;
  }

  async #learnTitles(entries: readonly LogEntry[]): Promise<void> {
    if (this.#titles.size >= REMEMBERED_MAX) this.#titles.clear();
    const wanted = new Map<string, EntityKey>();
    for (const { events } of entries)
      for (const { kind, id, type, data } of events) {
        if (type === 'task_submitted') this.#titles.set(id, title(data as unknown as TaskState));
        else if (type === 'task_filed' && data.task !== undefined)
          this.#titles.set(id, title(data.task as unknown as TaskState));
        else if (type === 'claim_opened')
          this.#titles.set(id, claimTitle(data.opened as unknown as BoardClaimState));
        else if (kind === 'task') wanted.set(id, taskKey(id));
        else if (kind === 'board_claim') wanted.set(id, boardClaimKey(id));
        else if (kind === 'artefact' && typeof data.claim_id === 'string')
          wanted.set(data.claim_id, boardClaimKey(data.claim_id));
      }
    const keys = [...wanted.values()].filter(({ id }) => !this.#titles.has(id));
    for (let start = 0; start < keys.length; start += 100) await this.#load(keys.slice(start, start + 100));
  }

  async #load(keys: readonly EntityKey[]): Promise<void> {
    const { store, project } = this.#coxswain;
    // If the store is away now, only the titles are missing.
    const { loaded } = await store.find(project, { keys }).catch(() => ({ loaded: undefined }));
    for (const key of keys) {
      const state = loaded?.get(key)?.state as unknown;
      if (state === undefined) continue;
      const name = key.kind === 'task' ? title(state as TaskState) : claimTitle(state as BoardClaimState);
      this.#titles.set(key.id, name);
    }
  }
}

/** What to call a record without a title, because the store is away. */
const TITLED: Readonly<Record<string, string>> = {
  task: 'a task',
  board_claim: 'a claim',
  artefact: 'a claim',
};

function title({ task_type, description }: Pick<TaskState, 'task_type' | 'description'>): string {
  return `${plain(task_type)} “${shorten(plain(description), TITLE_CHARS_MAX)}”`;
}
