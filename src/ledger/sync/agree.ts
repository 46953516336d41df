import { canonical, type JsonObject } from '../../kernel/json.ts';
import { type EntityRecord, keyText } from '../entity.ts';
import { isOver } from '../replay.ts';
import type { Copied, Copying } from './copy.ts';
import type { Survey } from './survey.ts';

const KEYS_AT_ONCE = 100;
const ROUNDS_MAX = 20;
const LOOK_AGAIN_MS = 50;

/**
 * Where the target's records differ from the fold of the source's log. Ignores records that the target has
 * continued by itself, and births, which differ between stores. The target may have swept away records that
 * are over.
 */
export async function differences(
  { to, project, entities, clock }: Copying,
  { target, goneOn }: Survey,
  { state, identities }: Copied,
): Promise<JsonObject[]> {
  let suspects = [...state.values()].filter((record) => !goneOn.has(keyText(record)));
  for (let round = 0; ; round += 1) {
    const different: JsonObject[] = [];
    const left: EntityRecord[] = [];
    for (let start = 0; start < suspects.length; start += KEYS_AT_ONCE) {
      const records = suspects.slice(start, start + KEYS_AT_ONCE);
      const { loaded, now_ms } = await to.store.find(project, {
        keys: records.map(({ kind, id }) => ({ kind, id })),
      });
      for (const record of records) {
        const there = loaded.get(record);
        if (isSame(record, there) || (there === undefined && isOver(entities, record, now_ms))) continue;
        left.push(record);
        const { kind, id, version } = record;
        different.push({ kind, id, from_version: version, to_version: there?.version ?? 0 });
      }
    }
    if (left.length === 0 || round === ROUNDS_MAX) return different;
    // Another process may have changed it since. Its row will show that, though perhaps not at once.
    await clock.sleep(round === 0 ? 0 : LOOK_AGAIN_MS);
    const touched = new Set<string>();
    await target.catchUp(({ events }, identity) => {
      if (!identities.has(identity)) for (const event of events) touched.add(keyText(event));
    });
    suspects = left.filter((record) => !touched.has(keyText(record)));
  }
}

function isSame(record: EntityRecord, there: EntityRecord | undefined): boolean {
  return record.version === there?.version && canonical(record.state) === canonical(there.state);
}
