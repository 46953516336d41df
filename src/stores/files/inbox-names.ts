import { hash } from 'node:crypto';
import { isoTime } from '../../kernel/clock.ts';

/**
 * None of the supported file systems has longer names; the suffix of a file that is set aside has to fit too.
 */
const NAME_BYTES_MAX = 200;
/** What Windows takes for a device, whatever the extension. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?=\.|$)/i;
/**
 * Characters that some file system can't hold, the encoding's own escape character, and a leading dot, which
 * would hide the folder.
 */
const UNSAFE = /[%/\\:*?"<>|\p{Cc}\p{Cs}]|^\.|[. ]$/gu;

/**
 * The folder of an agent: its name, with characters that no file name can hold as `%` and the hexadecimal
 * digits of their bytes. A name too long for a folder is replaced by its hash.
 */
export function folderOf(agent_id: string): string {
  const safe = agent_id
    .replace(UNSAFE, encoded)
    .replace(DEVICE, (name) => encoded(name[0] ?? '') + name.slice(1));
  if (Buffer.byteLength(safe) <= NAME_BYTES_MAX) return safe;
  return `%~${hash('sha256', agent_id, 'hex').slice(0, 32)}`;
}

function encoded(text: string): string {
  return [...Buffer.from(text, 'utf8')]
    .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`)
    .join('');
}

/**
 * The agent whose folder it is. Other programs write names unencoded, so a name that is no valid encoding
 * stands for itself.
 */
export function agentOf(folder: string): string {
  try {
    return decodeURIComponent(folder);
  } catch {
    return folder;
  }
}

export function belongsTo(folder: string, agent_id: string): boolean {
  return agentOf(folder) === agent_id || folderOf(agent_id) === folder;
}

/** `20260223T103000123456_edge_claim.json`: sorts by time. */
export function fileName(at_us: number, event_type: string): string {
  const at_ms = Math.floor(at_us / 1000);
  const digits = isoTime(at_ms).slice(0, 19).replaceAll(/[-:]/g, '');
  const micros = String((at_ms % 1000) * 1000 + (at_us % 1000)).padStart(6, '0');
  return `${digits}${micros}_${event_type.replace(/\W/g, '_').slice(0, 64)}.json`;
}

/** Numbers compare as numbers: 9 comes before 10. */
export function numberOf(file: string): number | undefined {
  return /^\d{1,15}\.json$/.test(file) ? Number.parseInt(file, 10) : undefined;
}
