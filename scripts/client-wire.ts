// Writes src/client/wire.ts: what a remote client knows of each operation, taken from the declarations. The client can't
// import those, because with them it would load the domain; a test says when this has to be run again.
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Wire } from '../src/client/wire.ts';
import type { AnyOperation } from '../src/runtime/operation.ts';
import { operations } from '../src/runtime/operation-list.ts';

const FILE = fileURLToPath(new URL('../src/client/wire.ts', import.meta.url));

const HEAD = `// Written by \`node scripts/client-wire.ts\` from the declarations in src/features/queue/operations.

/** How an operation is asked for over HTTP. */
export interface Wire {
  readonly path: string;
  /** What may be asked for again after a lost answer: what changes nothing; what has a name; nothing else. */
  readonly repeats: 'freely' | 'by_id' | 'never';
  /** The field that says for how many seconds the call may wait. */
  readonly waits?: string;
}

export type WireTable = Readonly<Record<string, Wire>>;
`;

async function describe(operation: AnyOperation): Promise<Wire> {
  const { properties } = (await operation.input()).json;
  const named = Object.hasOwn(properties as object, 'operation_id');
  const harmless = !operation.mutates || operation.repeatable === true;
  const repeats = named ? 'by_id' : harmless ? 'freely' : 'never';
  const { route, waits } = operation;
  return { path: route.path, repeats, ...(waits === undefined ? {} : { waits }) };
}

export async function wireText(): Promise<string> {
  const lines: string[] = [];
  for (const operation of operations) {
    const entry = Object.entries(await describe(operation)).map(([field, value]) => `${field}: '${value}'`);
    lines.push(`  ${operation.name}: { ${entry.join(', ')} },\n`);
  }
  return `${HEAD}\nexport const wire: WireTable = {\n${lines.join('')}};\n`;
}

if (import.meta.main) writeFileSync(FILE, await wireText());
