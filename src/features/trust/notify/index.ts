/** What other folders may use of trust's notifications. */
export { type Channel, hasChannels, readChannels } from './channels.ts';
export { Courier } from './courier.ts';
