/** What other slices, the runtime and the transports may use of keys. */
export { anyKeyOpens, everyKey } from './change-keys.ts';
export { API_KEY, type KeyState } from './state.ts';
export { storedKey } from './stored-key.ts';
