import type { Coxswain } from '../../../index.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { StoreFailure } from '../../../kernel/refusal.ts';
import type { LogEntry } from '../../../ledger/log.ts';
import type { BoardNews } from '../../board/news.ts';
import { pictureBoard } from '../../board/picture.ts';
import type { CommonOptions } from '../common.ts';
import { follow, PAGE } from '../follow.ts';
import { keepDrawing } from '../live.ts';
import { Narrator } from '../narrate.ts';
import { CTRL_C } from '../screen.ts';
import { jsonLine, type Terminal, viewOf } from '../terminal.ts';
import { eventLine } from '../watch-frame.ts';
import { type UpFrame, upLines } from './up-frame.ts';
import { boardRow, loggedNews, type News, newsJson, ownNews } from './up-news.ts';

const NEWS_KEPT = 200;

/** What a person sees of it: a picture that is redrawn; for a file or a program, a line for each piece of news. */
export class UpShow {
  readonly #coxswain: Coxswain;
  readonly #options: CommonOptions;
  readonly #terminal: Terminal;
  readonly #over: AbortController;
  readonly #narrator: Narrator;
  readonly #frame: { -readonly [K in keyof UpFrame]: UpFrame[K] } = { seen: undefined, news: [] };
  /** Lines go out one after the other, also those of news that came at the same time. */
  #written: Promise<void> = Promise.resolve();
  #stir: (() => void) | undefined;
  #position = 0;

  constructor(coxswain: Coxswain, options: CommonOptions, terminal: Terminal, over: AbortController) {
    this.#coxswain = coxswain;
    this.#options = options;
    this.#terminal = terminal;
    this.#over = over;
    this.#narrator = new Narrator(coxswain);
  }

  /** For people, in so many words; for a program, as an object. */
  async say(text: string, object: JsonObject): Promise<void> {
    const isJson = this.#options.json === true;
    await this.#write(isJson ? jsonLine(object) : text);
  }

  own(news: BoardNews): void {
    for (const each of ownNews(news)) this.tell(each);
  }

  tell(news: News): void {
    this.#frame.news = [...this.#frame.news, news].slice(-NEWS_KEPT);
    if (this.#stir !== undefined) this.#stir();
    else if (this.#options.json === true) void this.#write(newsJson(news));
    else void this.#write(eventLine(news, this.#view(this.#coxswain.clock.now_ms())));
  }

  /** Until it is over; from a position of the log on. */
  async run(after: number): Promise<void> {
    this.#position = after;
    const isPicture = this.#terminal.seen?.out === true && this.#options.json !== true;
    if (isPicture) await this.#draw();
    else await this.#follow();
  }

  /** From here on what is told stands on the terminal itself, and stays. */
  async stopping(byItself: boolean): Promise<void> {
    if (byItself || this.#options.json === true) return;
    await this.#terminal.err('cox up: stopping all of it; Ctrl-C once more quits at once.\n');
  }

  /** What was committed at the very end. */
  async catchUp(): Promise<void> {
    const { store, project } = this.#coxswain;
    for (;;) {
      const { entries } = await store.read(project, this.#position, PAGE);
      await this.#tellRows(entries);
      if (entries.length < PAGE) break;
    }
    await this.#written;
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
    const complain = ({ message }: StoreFailure) => {
      this.#frame.trouble = message;
    };
    for await (const entries of follow(this.#coxswain, this.#position, this.#over.signal, complain)) {
      await this.#tellRows(entries);
      if (this.#over.signal.aborted) return;
    }
  }

  async #tellRows(entries: readonly LogEntry[]): Promise<void> {
    const rows = entries.flatMap((entry) => boardRow(entry) ?? []);
    for (const sentence of await this.#narrator.tell(rows)) this.tell(loggedNews(sentence));
    this.#position = entries.at(-1)?.position ?? this.#position;
  }

  #view(now_ms: number) {
    return viewOf(this.#terminal, { color: this.#options.color, now_ms });
  }

  #write(line: string): Promise<void> {
    this.#written = this.#written.then(() => this.#terminal.out(`${line}\n`));
    return this.#written;
  }
}
