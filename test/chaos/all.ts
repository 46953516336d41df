// node test/chaos/all.ts
// The long form of what `npm test` does briefly: full races, kills, attacks on the seat, fan-outs to ten thousand, restarts. Several minutes.
import { join } from 'node:path';
import { startPostgres } from '../support/postgres.ts';
import { raceForAreas } from './areas.ts';
import { killOrchestrators } from './board.ts';
import { placesFor, raceForClaims } from './claims-race.ts';
import { temporaryFolder } from './crew.ts';
import { restartDynamoDb } from './dynamodb-restart.ts';
import { killFanOut } from './fan-out.ts';
import { killWriters } from './kills.ts';
import { restartPostgres } from './postgres-restart.ts';
import { race } from './race.ts';
import { attackSeat, storm } from './seat.ts';

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

let violations = 0;

function report(result: { summary: string; faults: readonly string[]; overlaps?: number }): void {
  console.log(result.summary);
  for (const fault of result.faults.slice(0, 20)) console.log(`  ${fault}`);
  violations += result.faults.length + (result.overlaps ?? 0);
}

{
  using folder = temporaryFolder();
  const server = await startPostgres({ fsync: true });
  try {
    report(await race(`sqlite:${join(folder.path, 'race.db')}`, RACERS, RACE_SECONDS));
    report(await race(await server.createDatabase(), RACERS, RACE_SECONDS));
    report(await raceForAreas(`sqlite:${join(folder.path, 'areas.db')}`, AREA_RACERS, AREA_SECONDS));
    report(await raceForAreas(await server.createDatabase(), AREA_RACERS, AREA_SECONDS));
    const places = placesFor(['sqlite', 'postgres'], folder.path, {
      postgres: () => server.createDatabase(),
    });
    report(await raceForClaims(places, CLAIM_RACERS, CLAIMS));
    report(await killOrchestrators(join(folder.path, 'board'), BOARD_CLAIMS, BOARD_KILLS));
    report(await attackSeat(join(folder.path, 'seat.db'), SEAT_KILLS, SEAT_STOPS, SEATED));
    report(await storm(join(folder.path, 'storm.db'), STORM_SECONDS, RACERS));
    report(await killWriters(`sqlite:${join(folder.path, 'kills.db')}`, KILLS, WRITERS));
    report(await killWriters(await server.createDatabase(), KILLS_ON_POSTGRES, WRITERS));
    for (const success of [true, false]) {
      const file = `sqlite:${join(folder.path, `fan-out-${success}.db`)}`;
      report(await killFanOut(file, DEPENDENTS, FAN_OUT_KILLS, success));
      const database = await server.createDatabase();
      report(await killFanOut(database, DEPENDENTS_ON_POSTGRES, FAN_OUT_KILLS, success));
    }
  } finally {
    await server.stop();
  }
  report(await restartPostgres(RESTARTS, WRITERS));
  report(await restartDynamoDb(RESTARTS, WRITERS));
}
console.log(violations === 0 ? 'no violations' : `${violations} violations`);
process.exitCode = violations === 0 ? 0 : 1;
