/** What others may use of notify in trust. */
export { type Channel, hasChannels, readChannels } from './channels.ts';
export { Courier } from './courier.ts';
