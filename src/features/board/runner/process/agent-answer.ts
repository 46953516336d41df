import { isObject } from '../../../../kernel/json.ts';

const STRUCTURAL_TYPES: ReadonlySet<unknown> = new Set([
  'Standard',
  'Review',
  'Question',
  'Answer',
  'Failure',
  'Terminal',
]);

export interface Answer {
  readonly artefact_type: string;
  readonly artefact_payload: string;
  readonly summary: string;
  readonly structural_type?: string | undefined;
}

/**
 * The parsed output of a command, or what is wrong with it. It must be exactly one JSON object with nothing
 * but white space around it.
 */
export function readAnswer(bytes: Uint8Array): Answer | { readonly problem: string } {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    return { problem: bytes.every(isSpace) ? 'It printed nothing.' : `It printed no JSON: ${String(error)}` };
  }
  if (!isObject(value)) return { problem: 'It printed JSON that is no object.' };
  const { artefact_type, artefact_payload, summary, structural_type } = value;
  if (typeof artefact_type !== 'string' || artefact_type.trim() === '') return lacks('artefact_type');
  if (artefact_payload === undefined) return lacks('artefact_payload');
  if (typeof summary !== 'string') return lacks('summary');
  if (structural_type !== undefined && !STRUCTURAL_TYPES.has(structural_type)) {
    const known = [...STRUCTURAL_TYPES].join(', ');
    return { problem: `Its structural_type is none of ${known}: ${JSON.stringify(structural_type)}.` };
  }
  return {
    artefact_type,
    artefact_payload: typeof artefact_payload === 'string' ? artefact_payload : jsonText(artefact_payload),
    summary,
    ...(structural_type === undefined ? {} : { structural_type: structural_type as string }),
  };
}

function jsonText(value: unknown): string {
  return JSON.stringify(value) ?? 'null';
}

function lacks(field: string): { readonly problem: string } {
  return { problem: `It printed JSON without ${field}.` };
}

function isSpace(byte: number): boolean {
  return byte === 32 || (byte >= 9 && byte <= 13);
}
