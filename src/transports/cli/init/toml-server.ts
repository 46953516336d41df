import {
  isMarked,
  lineOfTable,
  parseTomlText,
  putTable,
  removeTable,
  type TomlTable,
  tomlAt,
} from './toml-text.ts';
import { Unusable } from './unusable.ts';
import { SERVER } from './wiring.ts';

const MARK = '# Written by `cox init`; `cox init --undo` takes it away.';
const AT = ['mcp_servers', SERVER];

/**
 * Our table is marked. A server with our name but without the mark was added by a person or another program.
 */
export function addServer(text: string, path: string, table: TomlTable): string {
  if (!isMarked(text, AT, MARK) && tomlAt(parseTomlText(text, path), AT) !== undefined)
    throw new Unusable(
      path,
      lineOfTable(text, AT),
      `already has an MCP server named ${SERVER} that cox init did not write`,
      `Take it away (\`codex mcp remove ${SERVER}\`) and run \`cox init\` again.`,
    );
  return putTable(text, path, AT, { table, mark: MARK });
}

export function removeServer(text: string, path: string): string {
  return isMarked(text, AT, MARK) ? removeTable(text, path, AT, MARK) : text;
}
