// node test/chaos/all.ts [--part 1/3]
// The long form of what `npm test` does briefly: full races, kills, attacks on the seat, fan-outs to ten thousand, restarts. Several minutes.
import { join } from 'node:path';
import { startPostgres } from '../support/postgres.ts';
import { raceForAreas } from './areas.ts';
import { killOrchestrators } from './board.ts';
import { placesFor, raceForClaims } from './claims-race.ts';
import { readOptions, temporaryFolder } from './crew.ts';
import { damageFiles } from './damage.ts';
import { restartDynamoDb } from './dynamodb-restart.ts';
import { killFanOut } from './fan-out.ts';
import { killWriters } from './kills.ts';
import { restartPostgres } from './postgres-restart.ts';
import { race } from './race.ts';
import { attackSeat, storm } from './seat.ts';
import { killCoordinators } from './workdir.ts';

const BOARD_CLAIMS = 50;
const BOARD_KILLS = 100;
const RACERS = 32;
const RACE_SECONDS = 10;
const AREA_RACERS = 16;
const AREA_SECONDS = 15;
const CLAIM_RACERS = 16;
/** `node test/chaos/claims-race.ts` does a thousand. */
const CLAIMS = 250;
/** `node test/chaos/kills.ts` does a thousand. */
const KILLS = 200;
const KILLS_ON_POSTGRES = 60;
const WRITERS = 5;
const RESTARTS = 5;
const DEPENDENTS = 10_000;
const DEPENDENTS_ON_POSTGRES = 2000;
const FAN_OUT_KILLS = 12;
/** `node test/chaos/seat.ts` does a thousand and two hundred. */
const SEAT_KILLS = 100;
const SEAT_STOPS = 20;
const SEATED = 8;
const STORM_SECONDS = 20;
/** `node test/chaos/damage.ts` does a thousand. */
const DAMAGES = 150;
/** `node test/chaos/workdir.ts` does five hundred. */
const COORDINATOR_KILLS = 60;

let violations = 0;

interface Result {
  readonly summary: string;
  readonly faults: readonly string[];
  readonly overlaps?: number;
}

function report(result: Result): void {
  console.log(result.summary);
  for (const fault of result.faults.slice(0, 20)) console.log(`  ${fault}`);
  violations += result.faults.length + (result.overlaps ?? 0);
}

/** By its number: `--part 2/3` plays the second, fifth, eighth … CI takes a part, another one each day. */
function inPart(part: string): (index: number) => boolean {
  const [number = 0, count = 0] = part.split('/').map(Number);
  if (!(number >= 1 && number <= count)) throw new Error(`--part: expected 1/3, not ${part}`);
  return (index) => index % count === number - 1;
}

const { part } = readOptions({ part: '1/1' });
using folder = temporaryFolder();
const file = (name: string) => `sqlite:${join(folder.path, `${name}.db`)}`;
const server = await startPostgres({ fsync: true });
const database = () => server.createDatabase();
const places = placesFor(['sqlite', 'postgres'], folder.path, { postgres: database });

/** Neighbours are of about the same length, so that the parts are, too. */
const GAMES: readonly (() => Promise<Result>)[] = [
  () => race(file('race'), RACERS, RACE_SECONDS),
  async () => race(await database(), RACERS, RACE_SECONDS),
  () => storm(join(folder.path, 'storm.db'), STORM_SECONDS, RACERS),
  () => raceForAreas(file('areas'), AREA_RACERS, AREA_SECONDS),
  async () => raceForAreas(await database(), AREA_RACERS, AREA_SECONDS),
  () => raceForClaims(places, CLAIM_RACERS, CLAIMS),
  () => killOrchestrators(join(folder.path, 'board'), BOARD_CLAIMS, BOARD_KILLS),
  () => killCoordinators(COORDINATOR_KILLS),
  () => damageFiles(DAMAGES),
  () => attackSeat(join(folder.path, 'seat.db'), SEAT_KILLS, SEAT_STOPS, SEATED),
  () => killWriters(file('kills'), KILLS, WRITERS),
  async () => killWriters(await database(), KILLS_ON_POSTGRES, WRITERS),
  () => restartPostgres(RESTARTS, WRITERS),
  () => restartDynamoDb(RESTARTS, WRITERS),
  () => killFanOut(file('fan-out'), DEPENDENTS, FAN_OUT_KILLS, true),
  () => killFanOut(file('fan-out-failed'), DEPENDENTS, FAN_OUT_KILLS, false),
  async () => killFanOut(await database(), DEPENDENTS_ON_POSTGRES, FAN_OUT_KILLS, true),
  async () => killFanOut(await database(), DEPENDENTS_ON_POSTGRES, FAN_OUT_KILLS, false),
];

try {
  const isMine = inPart(part);
  for (const [index, play] of GAMES.entries()) if (isMine(index)) report(await play());
} finally {
  await server.stop();
}
console.log(violations === 0 ? 'no violations' : `${violations} violations`);
process.exitCode = violations === 0 ? 0 : 1;
