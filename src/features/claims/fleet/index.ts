/** What others may use of fleet in claims. */

export { type Fleet, fleetService } from './fleet.ts';
export { FleetReader } from './fleet-reader.ts';
