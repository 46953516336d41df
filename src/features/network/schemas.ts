import { isIP } from 'node:net';
import { z } from 'zod';
import { limits } from '../../kernel/limits.ts';
import { fields, inputSchema, name, someText } from '../../runtime/input-schema.ts';
import { expandEntry } from './policies.ts';
import { readRule } from './rule.ts';
import { normalEntry } from './settings/host.ts';
import { originText } from './settings/network-target.ts';

const URL_CHARS_MAX = 4096;

/** Path, query, user name and password end here: what is logged is what was parsed. */
function place(description: string) {
  return someText(URL_CHARS_MAX, description).transform(originText).optional();
}

const port = z.int().min(1).max(65_535);

export const checkNetwork = inputSchema(
  z
    .strictObject({
      url: place('What you want to fetch; only scheme, host and port are looked at and kept.'),
      domain: place('Or the host alone, such as pypi.org.'),
      port: port.describe('Default: the one of the URL, else 443.').optional(),
      addresses: z
        .array(z.string().refine((text) => isIP(text) !== 0, 'an IP address'))
        .max(limits.network_addresses_max)
        .describe('What the name led to, where you know: it is judged as well.')
        .optional(),
      server_name: name('What the TLS handshake asks for, where you know.', 255).optional(),
      operation_id: fields.operation_id,
    })
    .superRefine(({ url, domain }, context) => {
      if ((url === undefined) === (domain === undefined))
        context.addIssue({ code: 'custom', path: ['domain'], message: 'one of url and domain' });
    }),
);

export const listNetworkAccess = inputSchema(
  z.strictObject({
    agent_id: someText(limits.agent_id_chars_max, 'Default: everybody you may see.').optional(),
    allowed: z.boolean().describe('Only what was let, or only what was not.').optional(),
    limit: z.int().min(1).max(limits.network_access_listed_max).default(20),
  }),
);

const ENTRY_CHARS_MAX = 300;

function entries(description: string) {
  const entry = someText(ENTRY_CHARS_MAX, '')
    .transform(normalEntry)
    .refine(
      (text) => expandEntry(text)?.every((each) => readRule(each) !== undefined) === true,
      'a host such as example.com, *.example.com, example.com:8080, an address, a network, or category:documentation',
    );
  return z.array(entry).max(limits.network_entries_max).default([]).describe(description);
}

const policyName = name('What profiles call it in network_policy.', 64).regex(
  /^[a-z][a-z0-9_-]*$/,
  'lower-case letters, digits, _ and -',
);

export const setNetworkPolicy = inputSchema(
  z.strictObject({
    name: policyName,
    allow: entries('What may be reached.'),
    deny: entries('What may not, even if it is allowed.'),
    default: z
      .enum(['allow', 'deny'])
      .describe("For everything else; default: the profile's network_default.")
      .optional(),
    operation_id: fields.operation_id,
  }),
);

export const removeNetworkPolicy = inputSchema(
  z.strictObject({ name: policyName, operation_id: fields.operation_id }),
);

export const listNetworkPolicies = inputSchema(z.strictObject({}));
