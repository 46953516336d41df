import { isoTime } from '../../kernel/clock.ts';

const SLUG_CHARS_MAX = 60;

export const inboxPath = (id: string) => `inbox/${id}.yaml`;

/** `2026-03-01T0930-coder-fix-the-login`, as people name them. */
export function stemOf(at_ms: number, agent: string, title: string, unnamed: string): string {
  const minute = isoTime(at_ms).slice(0, 16).replace(':', '');
  const slug = title
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, SLUG_CHARS_MAX)
    .replace(/-+$/, '');
  return `${minute}-${agent}-${slug === '' ? unnamed : slug}`;
}

/** The first of `wanted`, `wanted-2`, `wanted-3`… that is free. */
export function freeId(wanted: string, isTaken: (id: string) => boolean): string {
  let id = wanted;
  for (let count = 2; isTaken(id); count += 1) id = `${wanted}-${count}`;
  return id;
}
