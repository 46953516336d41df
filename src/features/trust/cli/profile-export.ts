import { stringify } from 'yaml';
import type { JsonObject } from '../../../kernel/json.ts';
import type { Coxswain } from '../../../runtime/coxswain.ts';
import { describeProfile } from '../profiles/show-profile.ts';
import { everyProfile, isBuiltin, type RulebookState, rulebookKey } from '../rulebook.ts';

/** What was changed here (or everything), so that applying it elsewhere gives the same rules. */
export async function exportProfiles({ store, project }: Coxswain, all: boolean): Promise<JsonObject> {
  const { loaded } = await store.find(project, { keys: [rulebookKey] });
  const state = loaded.get<RulebookState>(rulebookKey)?.state;
  const isChanged = (name: string) => !isBuiltin(name) || Object.hasOwn(state?.profiles ?? {}, name);
  const profiles = everyProfile(state)
    .filter(({ name }) => all || isChanged(name))
    .map((profile) => {
      const { name: _, ...rest } = describeProfile(profile);
      // Leaving it out would mean the shipped value.
      return [profile.name, { connection: 'any', ...rest }] as const;
    });
  const document = stringify({
    profiles: Object.fromEntries(profiles),
    assignments: state?.assignments ?? [],
    settings: state?.settings ?? {},
  });
  return { success: true, document };
}
