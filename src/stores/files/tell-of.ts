import type { JsonObject } from '../../kernel/json.ts';
import { ownRow } from '../sqlite/own-row.ts';
import type { Statements } from '../sqlite/statements.ts';

export function tellOf(
  statements: Statements,
  operation: string,
  { home, position, at_ms }: { readonly home: string; readonly position: number; readonly at_ms: number },
  parameters: JsonObject,
): void {
  statements.append(position, ownRow({ project: home, at_ms }, operation, { parameters }), null);
}
