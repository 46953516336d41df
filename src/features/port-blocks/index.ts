/** What other slices, the runtime and the transports may use of port-blocks. */
export { readPortConfig } from './port-config.ts';
export { createPorts, type Ports, portsService } from './ports.ts';
