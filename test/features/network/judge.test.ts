import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  judgeHost,
  type NetworkJudgement,
  type NetworkTerms,
  termsOf,
} from '../../../src/features/network/judge-network.ts';
import {
  CATEGORY_NAMES,
  NETWORK_CATEGORIES,
  type NetworkPolicy,
  SHIPPED_POLICIES,
} from '../../../src/features/network/policies.ts';
import { readRule } from '../../../src/features/network/rule.ts';
import { normalEntry } from '../../../src/features/network/settings/host.ts';
import type { Profile } from '../../../src/features/trust/profile.ts';
import type { TrustLevel } from '../../../src/runtime/access.ts';

function profile(network_policy: string, trust_level: TrustLevel, rest: Partial<Profile> = {}): Profile {
  return {
    name: 'p',
    agent_types: [],
    trust_level,
    network_policy,
    required_domains: [],
    allowed_operations: [],
    blocked_operations: [],
    resource_limits: {},
    guardrails: [],
    elevated_operations: [],
    ...rest,
  };
}

interface Given {
  readonly trust?: TrustLevel;
  readonly agent_type?: string;
  readonly profile?: Partial<Profile>;
  readonly set?: Record<string, NetworkPolicy>;
  readonly everywhere?: 'allow' | 'deny';
  readonly coordination?: string[];
}

function terms(network_policy: string, given: Given = {}): NetworkTerms {
  const { trust = 2, agent_type = 'tester', set = {}, everywhere = 'deny', coordination = [] } = given;
  const standing = {
    profile: profile(network_policy, trust, given.profile),
    source: 'default',
    trust_level: trust,
  } as const;
  return termsOf(standing, agent_type, set, { default: everywhere, coordination });
}

function judge(where: string, given: NetworkTerms, addresses?: string[]): NetworkJudgement {
  const [, host = '', port] = /^(.*?)(?: (\d+))?$/.exec(where) ?? [];
  return judgeHost({ host, port: Number(port ?? 443), addresses }, given);
}

/** A policy of one's own. */
function own(allow: string[], deny: string[] = [], given: Given = {}, rest: Partial<NetworkPolicy> = {}) {
  return terms('ours', { ...given, set: { ours: { allow, deny, ...rest } } });
}

test('[NET-1] lists and wildcards: what each entry means, and what it does not', () => {
  const table: [entry: string, yes: string, no: string][] = [
    [
      'example.com',
      'example.com|example.com 80',
      'a.example.com|example.com 8080|xexample.com|example.com.evil.org',
    ],
    [
      '*.example.com',
      'a.example.com|a.b.example.com',
      'example.com|xexample.com|a.example.com.evil.org|a.example.com 22',
    ],
    ['example.com:8080', 'example.com 8080', 'example.com|example.com 80'],
    ['example.com:*', 'example.com 1|example.com 65535|example.com', 'a.example.com'],
    [
      '*',
      'example.com|a.b',
      '127.0.0.1|8.8.8.8|2606::1|localhost|a.localhost|metadata.google.internal|example.com 22',
    ],
    ['*:*', 'example.com 22', 'localhost 22|127.0.0.1 22'],
    ['*.google.internal', 'a.google.internal', 'metadata.google.internal'],
    ['metadata.google.internal', 'metadata.google.internal', '169.254.169.254'],
    ['localhost:8123', 'localhost 8123', 'localhost|a.localhost 8123|127.0.0.1 8123'],
    ['8.8.8.8', '8.8.8.8', '8.8.4.4|8.8.8.8 53'],
    ['8.8.0.0/16', '8.8.8.8|8.8.4.4', '8.9.0.1'],
    ['0.0.0.0/0', '8.8.8.8', '127.0.0.1|10.1.2.3|169.254.169.254|192.168.0.1|2606::1|example.com'],
    ['0.0.0.0/0:*', '8.8.8.8 53', '127.0.0.1 53'],
    ['10.0.0.0/8', '10.1.2.3', '11.0.0.1|127.0.0.1'],
    ['10.0.0.0/7', '11.0.0.1', '10.1.2.3'],
    ['169.254.0.0/16', '169.254.1.1', '169.254.169.254'],
    ['169.254.169.254', '169.254.169.254', '169.254.169.253'],
    ['127.0.0.1:8443', '127.0.0.1 8443', '127.0.0.1|127.0.0.2 8443'],
    ['::1', '::1', '::2|127.0.0.1'],
    ['[::1]:8080', '::1 8080', '::1'],
    ['[fd00::/8]:*', 'fd12::1 22', 'fc00::1 22|fe80::1'],
    ['::/0', '2606:4700::1', '::1|fd00::1|8.8.8.8'],
    ['::ffff:8.8.8.8', '8.8.8.8', '8.8.4.4'],
    ['EXAMPLE.com.', 'example.com', 'a.example.com'],
    ['category:documentation', 'docs.python.org|developer.mozilla.org', 'pypi.org'],
  ];
  for (const [entry, yes, no] of table) {
    const given = own([entry]);
    for (const where of yes.split('|'))
      assert.equal(judge(where, given).allowed, true, `${entry} allows ${where}`);
    for (const where of no.split('|'))
      assert.equal(judge(where, given).allowed, false, `${entry} does not allow ${where}`);
  }
});

test('[NET-1] entries that say nothing open nothing, and one on a deny list closes everything', () => {
  const wrong =
    'exa*mple.com|*example.com|a.*.com|*.*|**|*.|http://example.com|example.com/|example.com:0|example.com:65536|example.com:|1.2.3|1.2.3.4/33|1.2.3.4/|1.2.3.4/x|::ffff:1.2.3.4/96|[::1|[example.com]|*.1.2.3.4|category:nothing|category:constructor|a b|-a.com|user@example.com';
  for (const entry of wrong.split('|')) {
    assert.equal(readRule(entry), undefined, entry);
    assert.equal(judge('example.com', own([entry])).allowed, false, entry);
    const denied = judge('example.com', own(['example.com'], [entry]));
    assert.deepEqual([denied.allowed, denied.why], [false, 'unreadable_rule'], entry);
  }
});

test('[NET-1] entries are brought into their normal form when they are set', () => {
  const table: [string, string][] = [
    ['*.Bücher.example:8080', '*.xn--bcher-kva.example:8080'],
    ['Example.COM.', 'example.com'],
    ['0x7f.1:80', '127.0.0.1:80'],
    ['[::FFFF:10.0.0.1]', '10.0.0.1'],
    ['FD00::/8', 'fd00::/8'],
    ['::1', '[::1]'],
    ['fe80::1:2222', '[fe80::1:2222]'],
    ['*', '*'],
    ['*:*', '*:*'],
    ['category:documentation', 'category:documentation'],
  ];
  for (const [entry, normal] of table) {
    assert.equal(normalEntry(entry), normal);
    assert.ok(normal.startsWith('category:') || readRule(normal), normal);
  }
});

test('[NET-5] deny beats allow, in whatever order and however narrow', () => {
  const table: [allow: string[], deny: string[], where: string, allowed: boolean][] = [
    [['example.com'], ['example.com'], 'example.com', false],
    [['*.example.com'], ['a.example.com'], 'a.example.com', false],
    [['*.example.com'], ['a.example.com'], 'b.example.com', true],
    [['a.example.com'], ['*.example.com'], 'a.example.com', false],
    [['*:*'], ['*'], 'example.com', false],
    [['example.com'], ['example.com:80'], 'example.com 80', false],
    [['example.com'], ['example.com:80'], 'example.com', true],
    [['example.com:*'], ['example.com'], 'example.com 8080', false],
    [['10.0.0.0/8'], ['10.1.0.0/16'], '10.1.2.3', false],
    [['10.0.0.0/8'], ['0.0.0.0/0'], '10.1.2.3', false],
    [['category:package_managers'], ['pypi.org'], 'pypi.org', false],
    [['category:package_managers'], ['category:package_managers'], 'pypi.org', false],
    [['localhost'], ['*'], 'localhost', false],
  ];
  for (const [allow, deny, where, allowed] of table)
    assert.equal(judge(where, own(allow, deny)).allowed, allowed, JSON.stringify([allow, deny, where]));
});

test('[NET-5] what a profile requires and the coordination host pass, whatever a policy denies', () => {
  const given = own([], ['*', '0.0.0.0/0'], {
    trust: 0,
    profile: { required_domains: ['Coord.example.com', 'needed.example.com:8443'] },
    coordination: ['127.0.0.1:8081', 'api.example.com:443'],
  });
  const table: [string, boolean, string][] = [
    ['coord.example.com', true, 'required_domain'],
    ['coord.example.com 8080', false, 'no_network'],
    ['needed.example.com 8443', true, 'required_domain'],
    ['needed.example.com', false, 'no_network'],
    ['127.0.0.1 8081', true, 'coordination'],
    ['127.0.0.1 22', false, 'no_network'],
    ['api.example.com', true, 'coordination'],
    ['example.com', false, 'no_network'],
  ];
  for (const [where, allowed, why] of table) {
    const judged = judge(where, given);
    assert.deepEqual([judged.allowed, judged.why], [allowed, why], where);
  }
  assert.equal(
    judge('coord.example.com', given, ['10.0.0.7']).allowed,
    true,
    'it may be in a network of ours',
  );
  assert.equal(judge('coord.example.com', given, ['169.254.169.254']).allowed, false);
});

/** Policy × trust → one letter for each of the categories, in order, that is open. */
const TABLE: [policy: string, open: Record<TrustLevel, string>][] = [
  ['configurable', { 0: '', 1: 'P D S', 2: 'P D C S', 3: 'P D C S', 4: 'P D C S' }],
  ['documentation_only', { 0: '', 1: 'D', 2: 'D', 3: 'D', 4: 'D' }],
  ['package_managers_and_docs', { 0: '', 1: 'P D S', 2: 'P D S', 3: 'P D S', 4: 'P D S' }],
  ['coordination_only', { 0: '', 1: '', 2: '', 3: '', 4: '' }],
  ['full_access', { 0: '', 1: 'P D C S', 2: 'P D C S', 3: 'P D C S', 4: 'P D C S' }],
  ['no_such_policy', { 0: '', 1: '', 2: '', 3: '', 4: '' }],
];

test('[NET-1] [NET-5] the shipped policies and the categories, for each level of trust', () => {
  for (const [policy, levels] of TABLE)
    for (const [level, expected] of Object.entries(levels)) {
      const given = terms(policy, { trust: Number(level) as TrustLevel });
      const open = CATEGORY_NAMES.filter((name) =>
        NETWORK_CATEGORIES[name].domains.every((domain) => judge(domain.replace('*', 'a'), given).allowed),
      );
      const letters = open.map((name) => name[0]?.toUpperCase()).join(' ');
      assert.equal(letters, expected, `${policy} at trust ${level}`);
      const anything = judge('example.com', given).allowed;
      assert.equal(anything, policy === 'full_access' && level !== '0', `${policy} at trust ${level}`);
    }
});

test('[NET-1] the categories have the domains of the seed', () => {
  const seed = {
    package_managers: 'pypi.org npmjs.com rubygems.org',
    documentation: 'docs.python.org developer.mozilla.org',
    cloud_providers: '*.amazonaws.com *.azure.com *.googleapis.com',
    source_control: 'github.com gitlab.com',
  };
  for (const name of CATEGORY_NAMES) {
    const domains: readonly string[] = NETWORK_CATEGORIES[name].domains;
    for (const domain of seed[name].split(' ')) assert.ok(domains.includes(domain), domain);
  }
  for (const { allow, deny } of Object.values(SHIPPED_POLICIES))
    for (const entry of [...allow, ...deny])
      assert.ok(entry.startsWith('category:') || readRule(entry), `${entry} can be read`);
});

test('[NET-1] full access is the whole Internet, and still not this machine or the keys of its cloud', () => {
  const given = terms('full_access', { trust: 3 });
  for (const where of ['example.com', 'example.com 22', '8.8.8.8', '8.8.8.8 53', '2606:4700::1111 853'])
    assert.equal(judge(where, given).allowed, true, where);
  for (const where of [
    '127.0.0.1',
    'localhost 3000',
    '::1',
    '10.0.0.1',
    '192.168.1.1',
    '169.254.169.254',
    'fd00::1',
  ])
    assert.equal(judge(where, given).allowed, false, where);
  assert.equal(judge('rebound.example.com', given, ['93.184.216.34']).allowed, true);
  assert.equal(judge('rebound.example.com', given, ['127.0.0.1']).why, 'special_address');
});

test('[NET-4] a name is judged by where it leads, too', () => {
  const plain = own(['*.example.com']);
  const table: [NetworkTerms, string, string[], boolean][] = [
    [plain, 'a.example.com', [], true],
    [plain, 'a.example.com', ['93.184.216.34', '2606:4700::1111'], true],
    [plain, 'a.example.com', ['93.184.216.34', '127.0.0.1'], false],
    [plain, 'a.example.com', ['169.254.169.254'], false],
    [plain, 'a.example.com', ['::ffff:10.0.0.1'], false],
    [plain, 'a.example.com', ['64:ff9b::a9fe:a9fe'], false],
    [plain, 'a.example.com', ['0.0.0.0'], false],
    [plain, 'a.example.com', ['not an address'], false],
    [own(['*.example.com', '10.0.0.0/8']), 'a.example.com', ['10.1.2.3'], true],
    [own(['*.example.com', '10.0.0.0/8']), 'a.example.com', ['192.168.0.1'], false],
    [own(['a.example.com:8443', '10.0.0.0/8']), 'a.example.com 8443', ['10.1.2.3'], false],
    [own(['*.example.com'], ['93.184.216.0/24']), 'a.example.com', ['93.184.216.34'], false],
    [own(['localhost:8123']), 'localhost 8123', ['127.0.0.1', '::1'], true],
    [own(['localhost:8123']), 'localhost 8123', ['10.0.0.1'], false],
  ];
  for (const [given, where, addresses, allowed] of table)
    assert.equal(judge(where, given, addresses).allowed, allowed, `${where} ${addresses}`);
});

test('[NET-4] a connection for one name does not ask for another', () => {
  const given = own(['a.example.com', 'b.example.com']);
  const of = (server_name: string) => judgeHost({ host: 'a.example.com', port: 443, server_name }, given);
  assert.equal(of('a.example.com').allowed, true);
  assert.deepEqual([of('b.example.com').allowed, of('b.example.com').why], [false, 'other_server_name']);
});

test('[NET-3] what nobody lists is denied, unless policy, profile and place all leave it open', () => {
  const cloud = { connection: 'http_api' } as const;
  const table: [string, NetworkTerms, boolean][] = [
    ['nothing said', own([]), false],
    ['the place allows', own([], [], { everywhere: 'allow' }), true],
    ['the profile allows', own([], [], { profile: { network_default: 'allow' } }), true],
    ['the policy allows', own([], [], {}, { default: 'allow' }), true],
    ['the profile denies', own([], [], { everywhere: 'allow', profile: { network_default: 'deny' } }), false],
    [
      'the profile denies, the policy allows',
      own([], [], { profile: { network_default: 'deny' } }, { default: 'allow' }),
      false,
    ],
    [
      'the policy denies',
      own([], [], { everywhere: 'allow', profile: { network_default: 'allow' } }, { default: 'deny' }),
      false,
    ],
    ['a cloud agent', own([], [], { everywhere: 'allow', profile: cloud }), false],
    ['a cloud agent by its type', own([], [], { everywhere: 'allow', agent_type: 'codex_cloud' }), false],
    [
      'a cloud agent whose profile allows',
      own([], [], { profile: { ...cloud, network_default: 'allow' } }),
      true,
    ],
    ['documentation_only stays so', terms('documentation_only', { everywhere: 'allow' }), false],
    [
      'coordination_only stays so',
      terms('coordination_only', { profile: { network_default: 'allow' } }),
      false,
    ],
    ['a policy that is not there', terms('gone', { everywhere: 'allow' }), false],
  ];
  for (const [title, given, allowed] of table)
    assert.equal(judge('example.com', given).allowed, allowed, title);
  const open = own([], [], { everywhere: 'allow' });
  for (const where of ['example.com 22', '8.8.8.8', '127.0.0.1', 'localhost', 'metadata.google.internal'])
    assert.equal(judge(where, open).allowed, false, `the default is no rule for ${where}`);
});

test('[NET-5] a name that is set counts before the one that ships', () => {
  const set = { configurable: { allow: ['example.com'], deny: [] }, full_access: { allow: [], deny: [] } };
  assert.equal(judge('example.com', terms('configurable', { set })).allowed, true);
  assert.equal(
    judge('pypi.org', terms('configurable', { set })).allowed,
    false,
    'a policy beats the categories',
  );
  assert.equal(judge('example.com', terms('full_access', { set })).allowed, false);
  assert.equal(judge('example.com', terms('constructor', { set })).why, 'unknown_policy');
});
