import type { JsonObject } from '../../../kernel/json.ts';
import type { Style } from '../../../transports/cli/output/paint.ts';
import { counted, plain } from '../../../transports/cli/output/text.ts';

/** What of an event about a promotion its words are made of. */
interface Told {
  readonly who: string;
  readonly data: JsonObject;
}

function begun({ who, data }: Told): string {
  const files = Array.isArray(data.files) ? (data.files as JsonObject[]) : [];
  const [only] = files;
  const what =
    files.length === 1 && only !== undefined ? plain(only.path ?? '') : counted(files.length, 'file');
  const by = data.approved_by === undefined ? '' : `, approved by ${plain(data.approved_by)}`;
  return `${plain(data.agent_id ?? who)} promotes ${what} for ${plain(data.edge ?? '')} on ${plain(data.feature ?? '')}${by}`;
}

function stopped({ who, data }: Told): string {
  const published = Array.isArray(data.published) ? data.published.length : 0;
  const done = published === 0 ? 'no asset was replaced' : `${counted(published, 'asset')} had been replaced`;
  return `${who}’s drafts were not promoted, ${done}: ${plain(data.reason ?? '')}`;
}

/** Drafts on their way to the assets, in a person's words. */
export const PROMOTIONS_TOLD: Readonly<
  Record<string, readonly [(told: Told) => string | undefined, Style?]>
> = {
  promotion_started: [begun, 'cyan'],
  promotion_completed: [({ who }) => `${who}’s drafts are assets now`, 'green'],
  promotion_conflicted: [stopped, 'red'],
  promotion_opened: [() => undefined],
  promotion_closed: [() => undefined],
};
