import { type Refusal, refuse } from '../../../kernel/refusal.ts';
import {
  isOwnPart,
  isS3,
  parseS3Address,
  parseS3Template,
  S3_ADDRESS,
  S3_TEMPLATE,
  type S3Address,
  showS3,
} from '../../../kernel/s3-address.ts';
import type { S3PlaceAsked } from '../../../storage/s3/open-bucket.ts';
import type { ClaimRules } from '../../claims/index.ts';

const unusable = (where: string, field: string, expected: string) =>
  refuse('config_unusable', `${where}: ${field} has to be ${expected}.`, { field });

/**
 * The bucket in which this fleet drafts: by its rules, by `COX_ASSETS`, or by both alike. Undefined: it drafts on a disk. Two
 * different ones are refused: half of a fleet would promote to where the other half does not look.
 */
export function bucketOf(rules: ClaimRules, named: string | undefined): S3PlaceAsked | Refusal | undefined {
  const file = rules.file ?? 'agent_roles.yml';
  const { drafts_path_template, scratch_path_template } = rules.isolation;
  if (named === undefined && !isS3(drafts_path_template) && !isS3(scratch_path_template)) return undefined;
  let address: S3Address | undefined;
  if (named !== undefined) {
    address = parseS3Address(named);
    if (address === undefined) return unusable('COX_ASSETS', 'it', S3_ADDRESS);
  }
  const parts: string[] = [];
  // Drafts first: what their template names, the scratch folder has to be in, too.
  for (const [field, template] of Object.entries({ drafts_path_template, scratch_path_template })) {
    const read = partOf(template, address);
    if (read === undefined) return unusable(file, field, S3_TEMPLATE);
    if (address !== undefined && showS3(read.address) !== showS3(address))
      return unusable(file, field, `in ${showS3(address)}, where the rest is`);
    address ??= read.address;
    parts.push(read.part);
  }
  const [drafts = '', scratch = ''] = parts;
  if (drafts === scratch)
    return unusable(file, 'scratch_path_template', 'another one than that of the drafts');
  return { address: address as S3Address, drafts_path_template: drafts, scratch_path_template: scratch };
}

/** A template without a bucket of its own is below the one that is known already. */
function partOf(
  template: string,
  address: S3Address | undefined,
): { readonly address: S3Address; readonly part: string } | undefined {
  if (isS3(template)) return parseS3Template(template);
  const part = template.replace(/\/+$/, '');
  return address !== undefined && isOwnPart(part) ? { address, part } : undefined;
}
