import { lookup } from 'node:dns/promises';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { hostOf } from '../settings/host.ts';

/** The addresses of a name; none when it has none. */
export type Resolve = (name: string) => Promise<readonly string[]>;

/** What the system says, its own hosts file included. */
export const systemResolve: Resolve = async (name) => {
  try {
    const found = await lookup(name, { all: true });
    return found.map(({ address }) => address);
  } catch {
    return [];
  }
};

export type HostsFile = { ok: true; resolve: Resolve } | { ok: false; problem: string };

/** A file like /etc/hosts that is asked before the system. */
export function hostsFile(path: string, otherwise: Resolve): HostsFile {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    return { ok: false, problem: `a file that can be read: ${(error as Error).message}` };
  }
  const names = new Map<string, string[]>();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const [address, ...hosts] = line.replace(/#.*/, '').trim().split(/\s+/);
    if (address === undefined || address === '') continue;
    if (isIP(address) === 0) return { ok: false, problem: `an address at the start of line ${index + 1}` };
    for (const host of hosts) {
      const read = hostOf(host);
      if (!read.ok) return { ok: false, problem: `names behind the address in line ${index + 1}` };
      names.set(read.host, [...(names.get(read.host) ?? []), address]);
    }
  }
  return { ok: true, resolve: async (name) => names.get(name) ?? (await otherwise(name)) };
}
