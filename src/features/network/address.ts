/** An address as a number. What stands for an IPv4 address (mapped, NAT64) is that address: it leads to the same place. */
export interface Address {
  readonly family: 4 | 6;
  readonly value: bigint;
}

export const ADDRESS_BITS = { 4: 32, 6: 128 } as const;

/** Addresses that a name out there must not lead to. Only a rule at least this narrow opens one. */
export type SpecialKind = 'loopback' | 'private' | 'link_local' | 'metadata' | 'multicast' | 'reserved';

export interface SpecialRange {
  readonly kind: SpecialKind;
  readonly bits: number;
}

const OCTET = /^(?:0|[1-9]\d{0,2})$/;

function readIPv4(text: string): bigint | undefined {
  const parts = text.split('.');
  if (parts.length !== 4 || !parts.every((part) => OCTET.test(part) && Number(part) <= 255)) return undefined;
  return parts.reduce((value, part) => (value << 8n) | BigInt(part), 0n);
}

function readGroups(text: string): bigint[] | undefined {
  if (text === '') return [];
  const groups: bigint[] = [];
  const parts = text.split(':');
  for (const [index, part] of parts.entries()) {
    const tail = index === parts.length - 1 && part.includes('.') ? readIPv4(part) : undefined;
    if (tail !== undefined) groups.push(tail >> 16n, tail & 0xffffn);
    else if (/^[0-9a-f]{1,4}$/i.test(part)) groups.push(BigInt(`0x${part}`));
    else return undefined;
  }
  return groups;
}

function readIPv6(text: string): bigint | undefined {
  const [head = '', tail, more] = text.split('::');
  const before = readGroups(head);
  const after = tail === undefined ? [] : readGroups(tail);
  if (before === undefined || after === undefined || more !== undefined) return undefined;
  const missing = 8 - before.length - after.length;
  if (tail === undefined ? missing !== 0 : missing < 1) return undefined;
  const groups = [...before, ...new Array<bigint>(missing).fill(0n), ...after];
  return groups.reduce((value, group) => (value << 16n) | group, 0n);
}

const MAPPED = 0xffffn;
const NAT64 = 0x64_ff9bn << 64n;

/** Only the plain spelling; the odd ones are brought into it by `settings/host.ts`. */
export function readAddress(text: string): Address | undefined {
  const four = readIPv4(text);
  if (four !== undefined) return { family: 4, value: four };
  const six = text.includes(':') ? readIPv6(text) : undefined;
  if (six === undefined) return undefined;
  const prefix = six >> 32n;
  if (prefix === MAPPED || prefix === NAT64) return { family: 4, value: six & 0xffff_ffffn };
  return { family: 6, value: six };
}

export function isWithin({ family, value }: Address, network: Address, bits: number): boolean {
  const rest = BigInt(ADDRESS_BITS[family] - bits);
  return family === network.family && value >> rest === network.value >> rest;
}

/** The narrower ones first: the first that matches counts. */
const SPECIAL: readonly (readonly [network: string, bits: number, kind: SpecialKind])[] = [
  ['169.254.169.254', 32, 'metadata'],
  ['169.254.170.2', 32, 'metadata'],
  ['100.100.100.200', 32, 'metadata'],
  ['168.63.129.16', 32, 'metadata'],
  ['192.0.0.192', 32, 'metadata'],
  ['fd00:ec2::254', 128, 'metadata'],
  ['fd20:ce::254', 128, 'metadata'],
  ['0.0.0.0', 8, 'reserved'],
  ['10.0.0.0', 8, 'private'],
  ['100.64.0.0', 10, 'private'],
  ['127.0.0.0', 8, 'loopback'],
  ['169.254.0.0', 16, 'link_local'],
  ['172.16.0.0', 12, 'private'],
  ['192.0.0.0', 24, 'reserved'],
  ['192.0.2.0', 24, 'reserved'],
  ['192.88.99.0', 24, 'reserved'],
  ['192.168.0.0', 16, 'private'],
  ['198.18.0.0', 15, 'reserved'],
  ['198.51.100.0', 24, 'reserved'],
  ['203.0.113.0', 24, 'reserved'],
  ['224.0.0.0', 4, 'multicast'],
  ['240.0.0.0', 4, 'reserved'],
  ['::1', 128, 'loopback'],
  ['fc00::', 7, 'private'],
  ['fe80::', 10, 'link_local'],
  ['fec0::', 10, 'private'],
  ['ff00::', 8, 'multicast'],
  // Tunnels (Teredo, 6to4) and documentation: an IPv4 address of any kind may hide in them.
  ['2001::', 23, 'reserved'],
  ['2001:db8::', 32, 'reserved'],
  ['2002::', 16, 'reserved'],
  ['3fff::', 20, 'reserved'],
];

function networkOf(text: string): Address {
  const address = readAddress(text);
  if (address === undefined) throw new Error(`not an address: ${text}`);
  return address;
}

const RANGES = SPECIAL.map(([network, bits, kind]) => ({ network: networkOf(network), bits, kind }));
const PUBLIC_IPV6 = { network: networkOf('2000::'), bits: 3 };

/** Undefined: an address of the public Internet. */
export function specialRange(address: Address): SpecialRange | undefined {
  const range = RANGES.find(({ network, bits }) => isWithin(address, network, bits));
  if (range !== undefined) return { kind: range.kind, bits: range.bits };
  if (address.family === 4 || isWithin(address, PUBLIC_IPV6.network, PUBLIC_IPV6.bits)) return undefined;
  return { kind: 'reserved', bits: PUBLIC_IPV6.bits };
}
