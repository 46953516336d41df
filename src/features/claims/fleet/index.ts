/** What other folders may use of the claims fleet. */

export { type Fleet, fleetService } from './fleet.ts';
export { FleetReader } from './fleet-reader.ts';
