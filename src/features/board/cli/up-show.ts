import type { JsonObject } from '../../../kernel/json.ts';
import { StoreFailure } from '../../../kernel/refusal.ts';
import type { Coxswain } from '../../../runtime/coxswain.ts';
import { storeHints } from '../../../runtime/waiting.ts';
import { eventLine } from '../../../transports/cli/narration/event-line.ts';
import { PAGE } from '../../../transports/cli/narration/follow-log.ts';
import { Narrator } from '../../../transports/cli/narration/narrate.ts';
import { keepDrawing } from '../../../transports/cli/output/live.ts';
import { CTRL_C } from '../../../transports/cli/output/screen.ts';
import { jsonLine, type Terminal, viewOf } from '../../../transports/cli/output/terminal.ts';
import type { CommonOptions } from '../../../transports/cli/program/common.ts';
import type { BoardNews } from '../runner/news.ts';
import { pictureBoard } from '../runner/picture.ts';
import { type UpFrame, upLines } from './up-frame.ts';
import { boardRow, loggedNews, type News, newsJson, ownNews } from './up-news.ts';

const NEWS_KEPT = 200;
/** A hint may be lost. */
const LOOK_MS = 2_000;

/**
 * What a person sees of the run: on a terminal a picture that is redrawn; in a file or for a program, one
 * line per piece of news.
 */
export class UpShow {
  readonly #coxswain: Coxswain;
  readonly #options: CommonOptions;
  readonly #terminal: Terminal;
  readonly #over: AbortController;
  readonly #narrator: Narrator;
  readonly #frame: { -readonly [K in keyof UpFrame]: UpFrame[K] } = { seen: undefined, news: [] };
  readonly #begun = Promise.withResolvers<void>();
  /** One output at a time: the log is read once, lines are written whole, and none before the first line. */
  #turn: Promise<void> = this.#begun.promise;
  #stir: (() => void) | undefined;
  #position: number;

  constructor(
    coxswain: Coxswain,
    options: CommonOptions,
    terminal: Terminal,
    over: AbortController,
    /** A position in the log: earlier rows are not told. */
    after: number,
  ) {
    this.#position = after;
    this.#coxswain = coxswain;
    this.#options = options;
    this.#terminal = terminal;
    this.#over = over;
    this.#narrator = new Narrator(coxswain);
  }

  /** The first line. */
  async begin(text: string, object: JsonObject): Promise<void> {
    await this.#say(text, object);
    this.#begun.resolve();
  }

  /** As text for people; as an object for programs. */
  async say(text: string, object: JsonObject): Promise<void> {
    await this.#inTurn(() => this.#say(text, object));
  }

  /** What led to it is in the log, and is told first. */
  own(news: BoardNews): void {
    const told = ownNews(news);
    if (told.length === 0) return;
    void this.#inTurn(async () => {
      await this.#readLog();
      for (const each of told) await this.#tell(each);
    }).catch(() => this.#over.abort());
  }

  async tell(news: News): Promise<void> {
    await this.#inTurn(() => this.#tell(news));
  }

  /** Runs until the show is over. */
  async run(): Promise<void> {
    const isPicture = this.#terminal.seen?.out === true && this.#options.json !== true;
    if (isPicture) await this.#draw();
    else await this.#follow();
  }

  /** From here on, lines are written to the terminal itself and stay there. */
  async stopping(byItself: boolean): Promise<void> {
    if (byItself || this.#options.json === true) return;
    await this.#terminal.err('cox up: stopping all of it; Ctrl-C once more quits at once.\n');
  }

  /** Tells what was committed at the very end. */
  async catchUp(): Promise<void> {
    await this.#inTurn(() => this.#readLog());
  }

  async #draw(): Promise<void> {
    const { clock } = this.#coxswain;
    const begin = async (stir: () => void) => {
      this.#stir = stir;
      await this.#follow();
    };
    const picture = async () => {
      const now_ms = await this.#look();
      return upLines(this.#frame, this.#view(now_ms), this.#terminal.rows ?? 24);
    };
    try {
      await keepDrawing(clock, this.#over, begin, picture, [CTRL_C]);
    } finally {
      this.#stir = undefined;
    }
  }

  async #look(): Promise<number> {
    try {
      const { seen, now_ms } = await pictureBoard(this.#coxswain);
      Object.assign(this.#frame, { seen, trouble: undefined });
      return now_ms;
    } catch (error) {
      if (!(error instanceof StoreFailure)) throw error;
      this.#frame.trouble = error.message;
      return this.#coxswain.clock.now_ms();
    }
  }

  async #follow(): Promise<void> {
    const { store, clock, project } = this.#coxswain;
    const { signal } = this.#over;
    const hints = storeHints(store, clock, project, signal, (row) => boardRow(row) !== undefined);
    try {
      while (!signal.aborted) {
        await this.#inTurn(() => this.#readLog());
        await hints.next(clock.elapsed_ms() + LOOK_MS);
      }
    } finally {
      hints.close();
    }
  }

  /** Continues where the last read ended. If the store is unavailable, the next look tries again. */
  async #readLog(): Promise<void> {
    const { store, project } = this.#coxswain;
    try {
      for (;;) {
        const { entries } = await store.read(project, this.#position, PAGE);
        const rows = entries.flatMap((entry) => boardRow(entry) ?? []);
        for (const sentence of await this.#narrator.tell(rows)) await this.#tell(loggedNews(sentence));
        this.#position = entries.at(-1)?.position ?? this.#position;
        if (entries.length < PAGE) return;
      }
    } catch (error) {
      if (!(error instanceof StoreFailure) || error.refusal.error !== 'database_unavailable') throw error;
      this.#frame.trouble = error.message;
    }
  }

  async #tell(news: News): Promise<void> {
    this.#frame.news = [...this.#frame.news, news].slice(-NEWS_KEPT);
    if (this.#stir !== undefined) this.#stir();
    else if (this.#options.json === true) await this.#write(newsJson(news));
    else await this.#write(eventLine(news, this.#view(this.#coxswain.clock.now_ms())));
  }

  #view(now_ms: number) {
    return viewOf(this.#terminal, { color: this.#options.color, now_ms });
  }

  #inTurn(step: () => Promise<void>): Promise<void> {
    const done = this.#turn.then(step);
    this.#turn = done.catch(() => {});
    return done;
  }

  #say(text: string, object: JsonObject): Promise<void> {
    return this.#write(this.#options.json === true ? jsonLine(object) : text);
  }

  async #write(line: string): Promise<void> {
    await this.#terminal.out(`${line}\n`);
  }
}
