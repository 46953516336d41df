import { z } from 'zod';

/**
 * What a schema is built of. `strict` finds everything that is wrong. Otherwise nothing inside a map fails: a
 * wrong value counts as not given, so that the rest can still be checked.
 */
export function schemaKit(strict: boolean) {
  const strictly = (strict ? z.strictObject : z.object) as typeof z.strictObject;

  function object<F extends z.core.$ZodLooseShape>(fields: F) {
    return strictly(fields, { error: mapError });
  }

  /** `key:` and `key: ""` mean the same as no key at all. */
  function field<S extends z.ZodType>(schema: S) {
    const blank = (given: unknown) => (given === null || given === '' ? undefined : given);
    const optional = z.preprocess(blank, schema.optional());
    return strict ? optional : (optional.catch(undefined as never) as unknown as typeof optional);
  }

  function section<F extends z.core.$ZodLooseShape>(fields: F) {
    return field(object(fields));
  }

  /** A map with names chosen by the author of the file. An empty map is still a map. */
  function named<S extends z.ZodType>(schema: S) {
    const each = z.preprocess((given) => given ?? {}, schema);
    return z
      .unknown()
      .superRefine(refuseProto)
      .pipe(z.record(z.string(), strict ? each : each.catch({} as never), { error: mapError }));
  }

  return { strict, object, field, section, named };
}

export type SchemaKit = ReturnType<typeof schemaKit>;

function mapError(issue: { readonly code: string }): string | undefined {
  return issue.code === 'invalid_type' ? 'expected a map of names and values' : undefined;
}

/** The one key that a record drops silently. */
function refuseProto(given: unknown, context: z.core.$RefinementCtx): void {
  if (typeof given === 'object' && given !== null && Object.hasOwn(given, '__proto__'))
    context.addIssue({ code: 'custom', path: ['__proto__'], message: 'expected another name' });
}
