import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Json, JsonObject } from '../../src/kernel/json.ts';
import { operationsByName } from '../../src/runtime/operation-list.ts';
import { boardScenarios } from './board.ts';
import { claimScenarios } from './claims.ts';
import { coreScenarios } from './core.ts';
import { dailyScenarios } from './daily.ts';
import { dangerousScenarios } from './dangerous.ts';
import { type Agent, type Door, doors } from './doors.ts';
import { fleetScenarios } from './fleet.ts';
import { guardingScenarios } from './guarding.ts';
import { networkScenarios } from './network.ts';
import { profileScenarios } from './profiles.ts';
import { promotionScenarios } from './promotion.ts';
import type { Scenario } from './scenario.ts';
import { type Scratch, scratch } from './support.ts';
import { taskFileScenarios } from './task-files.ts';
import { verificationScenarios } from './verification.ts';

/** One table of what agents do; every door, on every store, plays all of it and answers the same. */
const scenarios: Readonly<Record<string, Scenario>> = {
  ...coreScenarios,
  ...dailyScenarios,
  ...guardingScenarios,
  ...profileScenarios,
  ...verificationScenarios,
  // Before the other two: a feature that was ever claimed is planned, too.
  ...fleetScenarios,
  ...promotionScenarios,
  ...taskFileScenarios,
  ...networkScenarios,
  ...dangerousScenarios,
  ...claimScenarios,
  ...boardScenarios,
};

type Transcript = { operation: string; answer: Json }[];

/** Ids, tokens and times differ from run to run; which of them are the same does not. */
function comparable(answer: JsonObject, names: Map<string, string>): Json {
  const rename = (kind: string, value: string): string => {
    const known = names.get(value) ?? `<${kind} ${names.size}>`;
    names.set(value, known);
    return known;
  };
  const text = JSON.stringify(answer, (name, value: unknown) => {
    // Two grants within a millisecond may have the same one, or not.
    if (name === 'fencing_token') return '<token>';
    if (name === 'next_cursor') return '<cursor>';
    if (typeof value === 'number' && /_(at|until)_ms$|^until_ms$/.test(name)) return '<time>';
    // Where in the log a row stands, which of its connection it was, and how soon it was done, differ too.
    return name === 'entries' ? (value as JsonObject[]).map(withoutPlace) : value;
  })
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replaceAll(/\d{4}-\d\d-\d\dT\d{4}-/g, '<minute>-')
    .replaceAll(/cox-door-\w+/g, '<folder>')
    .replaceAll(/coxs_[\w-]+\.[\w-]+/g, '<secret>')
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, (id) => rename('id', id))
    // Made of what it is about, and that names tasks.
    .replaceAll(/\b[0-9a-f]{12}\b/g, (id) => rename('approval', id))
    .replaceAll(/\b1[789]\d{11}\b/g, '<token>');
  return JSON.parse(text) as Json;
}

function withoutPlace({ position: _, sequence: __, duration_ms: ___, ...row }: JsonObject): JsonObject {
  return row;
}

/** What has the same millisecond may be listed in either order: one call after the other is what all doors are compared by. */
async function nextMillisecond(): Promise<void> {
  for (const began_ms = Date.now(); Date.now() === began_ms; ) await new Promise(setImmediate);
}

function recorded(agent: Agent, transcript: Transcript, names: Map<string, string>): Agent {
  return {
    aside: agent,
    async call(operation, input) {
      const answer = await agent.call(operation, input);
      await nextMillisecond();
      transcript.push({ operation, answer: comparable(answer, names) });
      return answer;
    },
  };
}

/** One door on one store, with the same two agents for all scenarios. */
class Stage {
  readonly #scratched: Scratch;
  readonly #door: Promise<Door>;
  readonly #agents: Promise<[Agent, Agent]>;

  constructor(make: (scratched: Scratch) => Door | Promise<Door>, scratched: Scratch) {
    this.#scratched = scratched;
    this.#door = Promise.resolve(make(this.#scratched));
    this.#agents = this.#door.then(async (door) => [await door.agent('alice'), await door.agent('bob')]);
  }

  async play(scenario: Scenario): Promise<Transcript> {
    const transcript: Transcript = [];
    const names = new Map<string, string>();
    const [alice, bob] = await this.#agents;
    const agents = [alice, bob].map((agent) => recorded(agent, transcript, names)) as [Agent, Agent];
    await scenario(...agents, this.#scratched);
    return transcript;
  }

  async close(): Promise<void> {
    await (await this.#door)[Symbol.asyncDispose]();
    this.#scratched[Symbol.dispose]();
  }
}

/**
 * Plays every scenario through every door on a store. The answers are compared between the doors and, by way of a first
 * stage that is the library on SQLite, between the stores.
 */
export function playAll(engine: string, place: () => Scratch): void {
  const reference = ['the library on SQLite', new Stage(doors.library, scratch())] as const;
  const stages = [
    reference,
    ...Object.entries(doors).map(
      ([name, make]) => [`${name} on ${engine}`, new Stage(make, place())] as const,
    ),
  ];
  after(() => Promise.all(stages.map(([, stage]) => stage.close())));
  const played = new Set<string>();
  for (const [title, scenario] of Object.entries(scenarios)) {
    test(`${title} (${engine})`, async () => {
      let expected: Transcript | undefined;
      for (const [name, stage] of stages) {
        const transcript = await stage.play(scenario);
        expected ??= transcript;
        for (const { operation } of transcript) played.add(operation);
        assert.deepEqual(transcript, expected, `through ${name}`);
      }
    });
  }
  test(`the scenarios leave no operation out (${engine})`, () => {
    // What no agent may do has tests of its own.
    const forAgents = [...operationsByName.values()].filter(
      ({ administers, personal }) => administers !== true && personal !== true,
    );
    assert.deepEqual([...played].sort(), forAgents.map(({ name }) => name).sort());
  });
}
