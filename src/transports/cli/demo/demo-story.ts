import type { JsonObject } from '../../../kernel/json.ts';
import { oneLine, type View } from '../output/layout.ts';
import type { Style } from '../output/paint.ts';
import { padded, plain } from '../output/text.ts';
import type { Actor } from './cast.ts';
import type { Stage } from './stage.ts';

interface Crew {
  ada: Actor;
  readonly ben: Actor;
  readonly cleo: Actor;
  readonly dan: Actor;
  readonly eve: Actor;
  readonly fay: Actor;
}

/** Six agents on one repository: everything that goes wrong between them in a day, shown in a minute. */
export class Story {
  readonly #stage: Stage;
  readonly #view: View;
  #scene = 0;

  constructor(stage: Stage, view: View) {
    this.#stage = stage;
    this.#view = view;
  }

  async play(): Promise<void> {
    const crew = await this.#arrive();
    await this.#oneFile(crew);
    const ids = await this.#workInOrder(crew);
    const takenOver = await this.#crash(crew, ids);
    await this.#handOver(crew);
    await this.#pause(crew);
    await this.#goOn(crew, takenOver);
  }

  async #title(text: string): Promise<void> {
    this.#scene += 1;
    await this.#stage.say(`\n${oneLine([{ text: `${this.#scene}  ${text}`, style: 'bold' }], this.#view)}`);
  }

  async #line(who: string, text: string, style?: Style): Promise<void> {
    const pieces = [
      { text: padded(who, 6), style: 'cyan' as const },
      { text, style },
    ];
    await this.#stage.say(oneLine(pieces, this.#view, 3));
  }

  /** Calls an operation and shows the answer as the agent would read it. */
  async #do(
    actor: Actor,
    words: string,
    operation: string,
    input: JsonObject,
    success = true,
  ): Promise<JsonObject> {
    const answer = this.#stage.expect(await this.#stage.ask(actor, operation, input), success);
    await this.#line(actor.name, words);
    if (!success) await this.#line('', `→ refused: ${plain(answer.message ?? '')}`, 'yellow');
    return answer;
  }

  async #arrive(): Promise<Crew> {
    await this.#title('Six agents arrive. Each is a process; nobody is in charge.');
    const names = ['ada', 'ben', 'cleo', 'dan', 'eve', 'fay'] as const;
    const actors = await this.#stage.until(Promise.all(names.map((name) => this.#stage.enter(name))));
    const tasks = ['move the routes', 'new cart', 'tidy up', 'prices', 'prices', 'review'];
    const can = ['routing', 'cart', 'style', 'prices', 'prices', 'review'];
    for (const [index, actor] of actors.entries()) {
      const input = { capabilities: [can[index] ?? ''], current_task: tasks[index] ?? '' };
      await this.#do(actor, `is here for: ${tasks[index]}`, 'register_session', input);
    }
    return Object.fromEntries(actors.map((actor) => [actor.name, actor])) as unknown as Crew;
  }

  async #oneFile({ ada, ben, cleo }: Crew): Promise<void> {
    await this.#title('Three want the same file. One gets it, the others wait their turn.');
    const lock = { file_path: 'src/router.ts', reason: 'move the routes' };
    await this.#do(ada, 'locks src/router.ts: move the routes', 'acquire_lock', lock);
    await this.#do(ben, 'wants src/router.ts too', 'acquire_lock', { file_path: 'src/router.ts' }, false);
    const bens = await this.#inLine(ben, 'src/router.ts', 'new cart', 'waits in line');
    const cleos = await this.#inLine(cleo, 'src/', 'tidy up', 'waits for all of src/, behind ben');
    await this.#do(ada, 'is done and releases it', 'release_lock', { file_path: 'src/router.ts' });
    this.#stage.expect(await this.#stage.until(bens.granted), true);
    await this.#line('ben', 'has it, the moment it was free', 'green');
    await this.#do(ben, 'releases it', 'release_lock', { file_path: 'src/router.ts' });
    this.#stage.expect(await this.#stage.until(cleos.granted), true);
    await this.#line('cleo', 'has the folder: first come, first served', 'green');
    await this.#do(cleo, 'releases it', 'release_lock', { file_path: 'src/' });
  }

  /** Resolves once the agent is really in the queue; the answer it waits for comes later. */
  async #inLine(
    actor: Actor,
    file_path: string,
    reason: string,
    words: string,
  ): Promise<{ granted: Promise<JsonObject> }> {
    const standing = Promise.withResolvers<JsonObject>();
    const answer = actor.ask('acquire_lock', { file_path, reason, wait_seconds: 120 }, standing.resolve);
    await this.#stage.until(Promise.race([standing.promise, answer]));
    await this.#line(actor.name, words, 'yellow');
    return { granted: answer };
  }

  async #workInOrder({ dan, eve, fay }: Crew): Promise<Record<string, string>> {
    await this.#title('Work is handed out once, and never before what it depends on.');
    const ids: Record<string, string> = {};
    const submit = async (task_type: string, task_description: string, more: JsonObject = {}) => {
      const answer = await this.#do(dan, `submits ${task_type}: ${task_description}`, 'submit_work', {
        task_type,
        task_description,
        ...more,
      });
      ids[task_type] = String(answer.task_id);
    };
    await submit('build', 'compile the shop', { priority: 1 });
    await submit('test', 'run the browser tests', { depends_on: [ids.build ?? ''] });
    await submit('prices', 'tea costs 4 now');
    await submit('migrate', 'rename the price column', { max_attempts: 1 });
    await submit('release', 'publish version 2', { depends_on: [ids.migrate ?? ''] });
    await this.#do(eve, 'takes build', 'get_work', {});
    await this.#do(fay, 'wants to test', 'get_work', { task_types: ['test'] }, false);
    await this.#do(eve, 'completes build', 'complete_work', { task_id: ids.build ?? '', success: true });
    await this.#do(fay, 'takes test, now that there is something to test', 'get_work', {
      task_types: ['test'],
    });
    return ids;
  }

  async #crash({ dan, eve }: Crew, ids: Record<string, string>): Promise<{ got: Promise<JsonObject> }> {
    await this.#title('One dies in the middle of it.');
    const lock = { file_path: 'src/prices.ts', reason: 'tea costs 4 now' };
    await this.#do(dan, 'takes prices and migrate', 'get_work', { task_types: ['prices'] });
    this.#stage.expect(await this.#stage.ask(dan, 'get_work', { task_types: ['migrate'] }), true);
    await this.#do(dan, 'locks src/prices.ts', 'acquire_lock', lock);
    const { pid } = dan.child;
    await this.#stage.until(dan.kill());
    await this.#line('dan', `kill -9 ${pid}: no goodbye, nothing released`, 'red');
    const eves = await this.#inLine(
      eve,
      'src/prices.ts',
      'tea costs 4 now',
      'waits for src/prices.ts, which dan still has',
    );
    this.#stage.expect(await this.#stage.until(eves.granted), true);
    await this.#line(
      'eve',
      `has it: dan was silent for ${this.#stage.pace.stale_ms / 1000} s, so what it held is free`,
      'green',
    );
    // A task that is given back rests for five seconds, in case the task itself kills its agents. Meanwhile
    // the other agents go on.
    const got = eve.ask('get_work', { task_types: ['prices'], wait_seconds: 60 });
    await this.#line('eve', 'waits for dan’s task, which rests a few seconds', 'yellow');
    if (ids.migrate !== undefined)
      await this.#line('', 'migrate had one attempt only: it is given up, for a person to see');
    return { got };
  }

  async #handOver(crew: Crew): Promise<void> {
    await this.#title('A day ends. What is known does not.');
    const { ada, ben, fay } = crew;
    await this.#do(ada, 'writes a hand-off: routes moved, cart still on the old one', 'write_handoff', {
      summary: 'routes moved, cart still on the old one',
      next_steps: ['move src/cart.ts to the new routes'],
      relevant_files: ['src/router.ts', 'src/cart.ts'],
    });
    await this.#do(ada, 'leaves; its process ends', 'end_session', {});
    await this.#stage.until(ada.kill());
    crew.ada = await this.#stage.enter('ada', 'ada-tomorrow');
    const answer = this.#stage.expect(await this.#stage.ask(crew.ada, 'register_session'), true);
    const { summary } = (answer.handoff ?? {}) as JsonObject;
    await this.#line('ada', `a new session begins with: “${plain(summary ?? '')}”`, 'green');
    const letter = { body: 'src/cart.ts is nearly done, have a look?', capability: 'review' };
    await this.#do(ben, 'writes to whoever can review', 'send_message', letter);
    const inbox = this.#stage.expect(await this.#stage.ask(fay, 'read_inbox'), true);
    await this.#line('fay', `has ${(inbox.messages as JsonObject[]).length} letter, from ben`);
  }

  async #pause({ ben, cleo, fay }: Crew): Promise<void> {
    await this.#title('One falls asleep with a lock and wakes up too late.');
    const brief = { file_path: 'src/cart.ts', reason: 'tidy up', ttl_minutes: 0.02 };
    await this.#do(cleo, 'locks src/cart.ts for a second, and is stopped (SIGSTOP)', 'acquire_lock', brief);
    cleo.child.kill('SIGSTOP');
    const bens = await this.#inLine(ben, 'src/cart.ts', 'new cart', 'waits for it');
    this.#stage.expect(await this.#stage.until(bens.granted), true);
    await this.#line('ben', 'has it: the time was up, nobody had to notice', 'green');
    cleo.child.kill('SIGCONT');
    await this.#do(
      cleo,
      'wakes up and goes on as if nothing had been',
      'release_lock',
      { file_path: 'src/cart.ts' },
      false,
    );
    await this.#inLine(fay, 'src/cart.ts', 'review', 'wants to review src/cart.ts, and waits for ben');
  }

  async #goOn({ eve }: Crew, { got }: { got: Promise<JsonObject> }): Promise<void> {
    await this.#title('The dead one’s work goes on.');
    const task = this.#stage.expect(await this.#stage.until(got), true);
    await this.#line('eve', `has prices, attempt ${plain(task.attempt ?? '')}`, 'green');
    await this.#do(eve, 'completes it', 'complete_work', { task_id: task.task_id, success: true });
  }
}
