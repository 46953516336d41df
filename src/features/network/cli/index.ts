/** What the command line uses of network. */
export type { ProxyCommandOptions } from './proxy-command.ts';
