/** What other slices, the runtime and the transports may use of network. */
export { type NetworkSettings, networkService } from './judge-network.ts';
