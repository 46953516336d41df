import { relative, sep } from 'node:path';
import { contains } from '../../../kernel/path.ts';
import { type Refusal, refuse } from '../../../kernel/refusal.ts';
import { isS3 } from '../../../kernel/s3-address.ts';
import { foldCase } from '../../../kernel/workspace.ts';
import type { Step } from '../../../runtime/operation.ts';
import { FolderPlace } from '../../../storage/folder-place.ts';
import type { AssetPlace } from '../../../storage/storage-place.ts';
import { fleetService } from '../../claims/fleet/index.ts';
import type { ClaimRules } from '../../claims/index.ts';
import { bucketOf } from './asset-bucket.ts';

/** Where drafts and assets of this fleet are. */
export interface DraftPlace {
  readonly place: AssetPlace;
  readonly rules: ClaimRules;
  /** The assets' folder from the top of the repository, with its slash; empty: the top itself. */
  readonly assets: string;
}

export interface PromotionTarget {
  /** From the top of the repository; in a bucket, below `assets/`. */
  readonly path: string;
  readonly key: string;
  /** Relative to the assets. */
  readonly asset: string;
}

export async function whereOf(step: Step): Promise<DraftPlace | Refusal> {
  const rules = await step.use(fleetService).rules();
  if ('success' in rules) return rules;
  const { assets_path } = rules.isolation;
  if (!isBelow(assets_path)) return unusable(rules, 'assets_path', 'a folder of the repository');
  const place = await placeOf(step, rules);
  if ('success' in place) return place;
  const names = assets_path.split('/').filter((name) => name !== '' && name !== '.');
  return { place, rules, assets: names.map((name) => `${name}/`).join('') };
}

function unusable({ file = 'agent_roles.yml' }: ClaimRules, field: string, expected: string): Refusal {
  return refuse('config_unusable', `${file}: ${field} has to be ${expected}.`, { field });
}

async function placeOf(step: Step, rules: ClaimRules): Promise<AssetPlace | Refusal> {
  const { folder, assets } = step.use(fleetService);
  const bucket = bucketOf(rules, assets);
  if (bucket !== undefined)
    // Only who drafts in a bucket pays for the SDK.
    return 'success' in bucket
      ? bucket
      : (await import('../../../storage/s3/open-bucket.ts')).s3Place(bucket);
  if (folder === '') return refuse('no_drafts', 'There is no workspace folder here to draft in.');
  const { drafts_path_template, scratch_path_template } = rules.isolation;
  for (const [field, template] of Object.entries({ drafts_path_template, scratch_path_template }))
    if (!isBelow(template) || !template.includes('{agent_id}'))
      return unusable(rules, field, 'a path below the workspace folder with {agent_id} in it');
  return new FolderPlace({ fleet: folder, root: step.root, drafts_path_template, scratch_path_template });
}

function isBelow(path: string): boolean {
  return (
    !/^(?:[A-Za-z][\w+.-]*:|[\\/~])/.test(path) && !/[\\\0]/.test(path) && !path.split('/').includes('..')
  );
}

/** Coxswain's own, wherever the store or the state of this machine lies in the repository. */
const OWN = /^\.(?:coxswain|cox-state)(?:\/|$)/i;
/** Parts of a workspace folder that are no assets, even where the assets are kept in it. */
const FLEET_OWN = ['events', 'agents', 'features', 'modules', 'views', 'config'];

/** Where a draft would go, or why it must not. Draft names are written by agents: nothing about them is taken for granted. */
export function targetOf(
  step: Step,
  { assets }: Pick<DraftPlace, 'assets'>,
  draft: string,
): PromotionTarget | string {
  const asset = draft.normalize('NFC');
  const path = `${assets}${asset}`;
  const key = step.path(`./${path}`, 'paths');
  if (typeof key !== 'string') return key.message;
  // A link, a backslash, a name the disk reads otherwise: the path leads elsewhere than it says.
  const plain = key.startsWith('./') ? key.slice(2) : key;
  if (foldCase(plain) !== foldCase(path))
    return 'The path leads through a symlink, or has a name that is not one.';
  if (OWN.test(plain) || isFleetsOwn(step, assets, key))
    return 'It is no asset, but part of the coordination itself.';
  return { path, key, asset };
}

function isFleetsOwn(step: Step, assets: string, key: string): boolean {
  const fleet = step.path(step.use(fleetService).folder, 'folder');
  // Elsewhere than in this repository: no target leads there. The repository itself: then by the names in it.
  if (typeof fleet !== 'string' && fleet.error !== 'path_is_root') return false;
  const inFleet = typeof fleet === 'string' ? key.slice(fleet.length + 1) : key;
  if (typeof fleet === 'string' && !contains(fleet, key)) return false;
  const home = assets === '' ? undefined : step.path(`./${assets}`, 'assets_path');
  const assetsAreInIt =
    typeof home === 'string' && (typeof fleet !== 'string' || (home !== fleet && contains(fleet, home)));
  const [first = ''] = inFleet.split('/');
  if (FLEET_OWN.includes(first.toLowerCase()) || /^agent_roles\.ya?ml$/i.test(inFleet)) return true;
  return typeof fleet === 'string' && !assetsAreInIt;
}

/** As an agent would type it from the top of the repository; a bucket's address as it is. */
export function shownFolder(step: Step, folder: string): string {
  if (isS3(folder)) return folder;
  const from = relative(step.root, folder).split(sep).join('/');
  return from === '' || from.startsWith('..') ? folder : from;
}
