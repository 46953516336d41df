import { z } from 'zod';
import { limits } from '../../../kernel/limits.ts';
import { type FileProblem, readYaml } from '../../../storage/yaml-file.ts';
import type { VerificationPolicy } from '../verification-policy.ts';
import { policyFields, policySchema } from './policy-schema.ts';

export type ParsedPolicies =
  | { readonly ok: true; readonly policies: readonly VerificationPolicy[] }
  | { readonly ok: false; readonly problems: readonly FileProblem[] };

const list = <P extends z.ZodType>(policy: P) => z.array(policy).min(1).max(limits.verification_policies_max);

const file = z.strictObject({ version: z.literal(1).optional(), policies: list(policySchema) });
const looseFile = z.object({ policies: list(z.object(policyFields)) });

/** `policies:` with the fields of `set_verification_policy`; every mistake at once, each with its line. */
export function parsePolicies(text: string): ParsedPolicies {
  const { value, problems: found, problem } = readYaml(text, file, looseFile);
  if (value === undefined) return { ok: false, problems: found };
  const names = value.policies.map(({ name }) => name);
  const twice = names.flatMap((name, index) =>
    names.indexOf(name) === index
      ? []
      : [problem(['policies', index, 'name'], `${JSON.stringify(name)} is there twice`)],
  );
  const problems = [...found, ...twice];
  return problems.length > 0 ? { ok: false, problems } : { ok: true, policies: value.policies };
}
