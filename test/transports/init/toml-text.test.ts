import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'smol-toml';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { addServer, removeServer } from '../../../src/transports/cli/init/toml-server.ts';
import { Unusable } from '../../../src/transports/cli/init/unusable.ts';

const table = {
  command: '/usr/bin/node',
  args: ['/a b/cox', 'mcp', '--client', 'codex'],
  env_vars: ['AGENT_ID'],
};
/** Without the bare prototypes of the parser. */
const read = (text: string) => JSON.parse(JSON.stringify(parse(text.replace(/^\ufeff/, '')))) as JsonObject;
const serversOf = (text: string) => read(text).mcp_servers as JsonObject;

const ODD: Record<string, string> = {
  'nothing in it': '',
  'a table at the end': 'model = "x" # mine\n\n[tui]\ntheme = "dark"\n',
  'no line break at the end': 'model = "x"',
  'other servers': '[mcp_servers.other]\ncommand = "y"\n\n[mcp_servers.other.env]\nA = "1"\n\n# last words\n',
  CRLF: '# c\r\nmodel = "x"\r\n\r\n[a.b]\r\nc = 1\r\n',
  'a byte order mark': '\ufeffmodel = "x"\n',
  'blank lines at the end': 'a = 1\n\n\n',
  'strings with headers in them': 'a = """\n[mcp_servers.coxswain]\n"""\n[b]\nc = \'\'\'\n[x]\n\'\'\'\n',
};

for (const [name, text] of Object.entries(ODD)) {
  test(`[HOOK-3] TOML with ${name}: ours goes to the end and out again, byte for byte`, () => {
    const added = addServer(text, 'x', table);
    assert.deepEqual(serversOf(added).coxswain, table);
    assert.ok(added.startsWith(text));
    assert.equal(addServer(added, 'x', table), added, 'twice is once');
    assert.equal(addServer(addServer(added, 'x', { ...table, command: 'old' }), 'x', table), added);
    if (text.includes('\r\n')) assert.doesNotMatch(added, /[^\r]\n/);
    const removed = removeServer(added, 'x');
    assert.equal(removed.trimEnd(), text.trimEnd());
    if (text.endsWith('\n')) assert.equal(removed, text);
  });
}

test('[HOOK-3] TOML: what Codex notes below and behind our table', () => {
  const added = addServer('a = 1\n', 'x', table);
  const later = `${added}\n[mcp_servers.coxswain.tools.acquire_lock]\napproval_mode = "approve"\n\n[projects."/r"]\ntrust_level = "trusted"\n`;
  const updated = addServer(later, 'x', { ...table, command: 'new' });
  assert.deepEqual(serversOf(updated).coxswain, {
    ...table,
    command: 'new',
    tools: { acquire_lock: { approval_mode: 'approve' } },
  });
  const removed = removeServer(updated, 'x');
  assert.deepEqual(read(removed), { a: 1, projects: { '/r': { trust_level: 'trusted' } } });
});

test('[HOOK-3] TOML: a server that Codex put between stays', () => {
  const added = addServer('', 'x', table);
  const later = `${added}[mcp_servers.other]\ncommand = "y"\n`;
  assert.deepEqual(read(removeServer(later, 'x')), { mcp_servers: { other: { command: 'y' } } });
});

test("[HOOK-3] TOML: somebody else's server of our name, broken files and forms that cannot be edited are refused", () => {
  const cases: [string, RegExp][] = [
    ['a = 1\n[mcp_servers.coxswain]\ncommand = "y"\n', /^f\.toml:2 already has an MCP server named coxswain/],
    ['mcp_servers = { other = { command = "y" } }\n', /cannot be edited safely/],
    ['mcp_servers.coxswain.command = "y"\n', /already has an MCP server/],
    ['a = 1\nb = = 2\n', /^f\.toml:2 is no TOML/],
    ['[a]\nx = 1\n[a]\ny = 2\n', /^f\.toml:\d is no TOML/],
  ];
  for (const [text, expected] of cases)
    assert.throws(
      () => addServer(text, 'f.toml', table),
      (error) => error instanceof Unusable && expected.test(error.message),
      text,
    );
});

test('[HOOK-3] TOML: paths with anything in them', () => {
  const odd = { command: 'C:\\node "x"\u007f\t', args: ["it's", 'é\u2028', '$HOME'] };
  assert.deepEqual(serversOf(addServer('', 'x', odd)).coxswain, odd);
});
