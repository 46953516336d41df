import { hash } from 'node:crypto';
import { isoTime } from '../../kernel/clock.ts';

/** No file system of ours holds longer names; an ending that sets a file aside has to fit too. */
const NAME_BYTES_MAX = 200;
/** What Windows takes for a device, whatever ending it has. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?=\.|$)/i;
/** What some file system can't hold, the sign of the encoding itself, and a dot where it would hide the folder. */
const UNSAFE = /[%/\\:*?"<>|\p{Cc}\p{Cs}]|^\.|[. ]$/gu;

/**
 * The folder of an agent: its name, with what no file name can hold as `%` and the hexadecimal digits of its bytes. A name too
 * long for a folder goes by its hash.
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

/** Whose folder it is. Others write names as they are, so what is no encoding stands for itself. */
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

/** `20260223T103000123456_edge_claim.json`: in order of time when sorted as text. */
export function fileName(at_us: number, event_type: string): string {
  const at_ms = Math.floor(at_us / 1000);
  const digits = isoTime(at_ms).slice(0, 19).replaceAll(/[-:]/g, '');
  const micros = String((at_ms % 1000) * 1000 + (at_us % 1000)).padStart(6, '0');
  return `${digits}${micros}_${event_type.replace(/\W/g, '_').slice(0, 64)}.json`;
}

/** Plain numbers are numbers: 9 comes before 10. */
export function numberOf(file: string): number | undefined {
  return /^\d{1,15}\.json$/.test(file) ? Number.parseInt(file, 10) : undefined;
}
