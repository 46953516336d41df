import { sha256 } from '../kernel/hash.ts';

const PLAIN = /^[A-Za-z0-9_@+-][A-Za-z0-9._@+-]*$/;
const BYTES_MAX = 120;

/**
 * The name of an agent's own folder: the agent's id where that is a plain name, as in other implementations.
 * In any other id each special character is written as %XX, so that no two agents share a folder and no name
 * leads out of it.
 */
export function agentFolder(agent_id: string): string {
  if (PLAIN.test(agent_id) && !agent_id.endsWith('.') && agent_id.length <= BYTES_MAX) return agent_id;
  const escaped = [...Buffer.from(agent_id)]
    .map(escapedByte)
    .join('')
    .replace(/^\./, '%2E')
    .replace(/\.$/, '%2E');
  return escaped.length <= BYTES_MAX
    ? escaped
    : `${escaped.slice(0, BYTES_MAX - 17)}~${sha256(agent_id).slice(0, 16)}`;
}

function escapedByte(byte: number): string {
  const character = String.fromCharCode(byte);
  return /[A-Za-z0-9._@+-]/.test(character)
    ? character
    : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
}
