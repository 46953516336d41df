import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Json, JsonObject } from '../../../src/kernel/json.ts';
import {
  addHooks,
  type HookEvents,
  ourHook,
  removeHooks,
} from '../../../src/transports/cli/init/hook-parts.ts';
import { appendJson, parseLoosely, removeJson, setJson } from '../../../src/transports/cli/init/json-text.ts';
import { type Part, withoutPart, withPart } from '../../../src/transports/cli/init/setup-parts.ts';
import { Unusable } from '../../../src/transports/cli/init/unusable.ts';

const command = (event: string, checkout = '/opt/cox') =>
  `"/usr/bin/node" "${checkout}/dist/hook.cjs" claude-code ${event} --locks auto`;
const events: HookEvents = {
  PreToolUse: { matcher: 'Edit', hooks: [{ type: 'command', command: command('before-tool') }] },
  Stop: { hooks: [{ type: 'command', command: command('turn-end') }] },
};
const server: Extract<Part, { kind: 'json-value' }> = {
  kind: 'json-value',
  at: ['mcpServers', 'coxswain'],
  value: { command: 'node', args: ['cox'] },
};
const hooks = { kind: 'json-hooks', events } as const;

/** As people and other programs leave them behind. */
const ODD: Record<string, string> = {
  'two spaces': '{\n  "model": "x",\n  "mcpServers": {\n    "other": { "command": "y" }\n  }\n}\n',
  tabs: '{\n\t"model": "x",\n\t"hooks": {\n\t\t"Stop": [\n\t\t\t{ "hooks": [ { "type": "command", "command": "say done" } ] }\n\t\t]\n\t}\n}\n',
  CRLF: '{\r\n  "a": [1, 2],\r\n  "mcpServers": {\r\n  }\r\n}\r\n',
  'a byte order mark': '\ufeff{\n    "a": 1\n}',
  'comments everywhere':
    '// top\n{\n  /* a */ "a": 1, // after a\n  "hooks": {\n    // nothing yet\n  } // after hooks\n  // last words\n}\n// end\n',
  'a comment behind the last value': '{\n  "a": 1 // the only one\n}\n',
  'trailing commas': '{\n  "a": 1,\n  "mcpServers": {\n    "other": {},\n  },\n}\n',
  'one line':
    '{"a":1,"mcpServers":{"other":{"command":"y"}},"hooks":{"Stop":[{"hooks":[{"type":"command","command":"z"}]}]}}',
  'an empty object': '{}',
  'a spread empty object': '{\n}\n',
  'strings that look like structure': '{\n  "a": "} , // no \\" ]",\n  "b": "/* no */"\n}\n',
  'odd order and odd space':
    '{ "hooks" :{ "PreToolUse":[\n  {"matcher":"Bash","hooks":[{"type":"command","command":"guard"}]} ] }\n , "a":\n\n1 }',
};

for (const [name, text] of Object.entries(ODD)) {
  test(`[HOOK-3] JSON with ${name}: ours goes in, the rest keeps its bytes, and out again`, () => {
    const before = parseLoosely(text) as JsonObject;
    const added = withPart(withPart(text, server, 'x', false), hooks, 'x', false);
    const after = parseLoosely(added) as { mcpServers: JsonObject; hooks: Record<string, Json[]> };
    assert.deepEqual(after.mcpServers.coxswain, server.value);
    for (const [event, group] of Object.entries(events)) assert.deepEqual(after.hooks[event]?.at(-1), group);
    assert.equal(withPart(withPart(added, server, 'x', false), hooks, 'x', false), added, 'twice is once');
    assertKept(text, added);
    const removed = withoutPart(withoutPart(added, hooks, 'x') ?? '', server, 'x') ?? '';
    assert.deepEqual(pruned(parseLoosely(removed) as JsonObject), pruned(before));
    for (const comment of text.match(/\/\/ .*|\/\* a \*\//g) ?? [])
      assert.ok(removed.includes(comment), comment);
  });
}

/** Every character of the old text is still there, in order. */
function assertKept(old: string, fresh: string): void {
  let at = 0;
  for (const character of old.replaceAll(/\s/g, '')) {
    at = fresh.indexOf(character, at);
    assert.notEqual(at, -1, `${JSON.stringify(character)} is gone`);
    at += 1;
  }
  const kept = fresh.split(/\r?\n/);
  const lines = old
    .split(/\r?\n/)
    .filter((line) => !/[{}\]]\s*,?\s*$/.test(line) && /,\s*(\/\/.*)?$/.test(line));
  for (const line of lines) assert.ok(kept.includes(line), `changed: ${line}`);
  assert.equal(fresh.includes('\r\n'), old.includes('\r\n'));
  if (old.includes('\r\n')) assert.doesNotMatch(fresh, /[^\r]\n/);
  if (old.includes('\t')) assert.doesNotMatch(fresh, /\n +/);
}

/** Empty objects and lists that we may have taken away with ours mean the same as none. */
function pruned(value: JsonObject): JsonObject {
  const { hooks: inner, mcpServers, ...rest } = value;
  const kept = (part: Json | undefined) => part !== undefined && Object.keys(part as object).length > 0;
  return { ...rest, ...(kept(inner) ? { hooks: inner } : {}), ...(kept(mcpServers) ? { mcpServers } : {}) };
}

test('[HOOK-3] JSON: where nothing was empty before, taking ours out leaves every byte as it was', () => {
  for (const name of [
    'two spaces',
    'tabs',
    'a byte order mark',
    'a comment behind the last value',
    'one line',
    'trailing commas',
  ]) {
    const text = ODD[name] ?? '';
    const added = withPart(withPart(text, server, 'x', false), hooks, 'x', false);
    assert.equal(withoutPart(withoutPart(added, hooks, 'x') ?? '', server, 'x'), text, name);
  }
});

test('[HOOK-3] JSON: hooks of another checkout or with other flags are replaced where they stand', () => {
  const moved: HookEvents = {
    PreToolUse: {
      matcher: 'Edit|Write',
      hooks: [{ type: 'command', command: command('before-tool', '/home of/cox') }],
    },
  };
  const first = addHooks(
    '{\n  "hooks": {\n    "PreToolUse": [\n      { "hooks": [] }\n    ]\n  }\n}',
    'x',
    events,
  );
  const second = addHooks(
    appendJson(first, 'x', ['hooks', 'PreToolUse'], { hooks: [{ command: 'later' }] }),
    'x',
    moved,
  );
  const { hooks: found } = parseLoosely(second) as { hooks: Record<string, Json[]> };
  assert.deepEqual(found.PreToolUse, [{ hooks: [] }, moved.PreToolUse, { hooks: [{ command: 'later' }] }]);
  assert.equal(found.Stop, undefined, 'an event that is not ours any more');
});

test('[HOOK-3] JSON: hooks that somebody moved among others are found, and the others stay', () => {
  const mixed = `{"hooks":{"PreToolUse":[{"matcher":"*","hooks":[{"command":"a"},{"command":${JSON.stringify(command('before-tool'))}},{"command":"b"}]}]}}`;
  const removed = removeHooks(mixed, 'x');
  assert.equal(
    removed,
    '{"hooks":{"PreToolUse":[{"matcher":"*","hooks":[{"command":"a"},{"command":"b"}]}]}}',
  );
  const again = parseLoosely(addHooks(mixed, 'x', events)) as { hooks: { PreToolUse: Json[] } };
  assert.deepEqual(again.hooks.PreToolUse, [
    { matcher: '*', hooks: [{ command: 'a' }, { command: 'b' }] },
    events.PreToolUse,
  ]);
});

test('[HOOK-3] JSON: a comment never swallows what follows a removal', () => {
  for (const text of [
    '{ "a": 1, // c\n "x": 2 }',
    '{ // c\n "x": 2 }',
    '{ "a": 1, // c\r\n "x": 2, }',
    '{ "x": 2, // c\n "a": 1 }',
  ]) {
    const { x: _, ...rest } = parseLoosely(text) as JsonObject;
    const removed = removeJson(text, 'x', ['x']);
    assert.deepEqual(parseLoosely(removed), rest, removed);
    assert.match(removed, /\/\/ c/);
  }
});

test('[HOOK-3] whose a hook is', () => {
  assert.deepEqual(ourHook(command('before-tool')), { client: 'claude-code', event: 'before-tool' });
  assert.deepEqual(ourHook('node /x/bin/cox hook codex turn-end'), { client: 'codex', event: 'turn-end' });
  for (const foreign of [
    'npx some-hook.cjs claude-code',
    'echo hook.cjs before-tool',
    'my-hook.cjsx codex turn-end',
    undefined,
    7,
  ])
    assert.equal(ourHook(foreign), undefined, String(foreign));
});

test('[HOOK-3] JSON that is broken, or has something else in our place, is named with its line', () => {
  const cases: [string, RegExp][] = [
    ['{\n  "a": 1,\n  "b" 2\n}', /^f\.json:3 is no JSON/],
    ['[1]', /^f\.json:1 is no JSON object/],
    ['{"a": 1', /^f\.json:1 is no JSON/],
    ['{\n  "mcpServers": []\n}', /^f\.json:2 has something else than an object at mcpServers/],
    ['{"mcpServers": {"coxswain": 1}, "mcpServers": {"coxswain": 2}}', /mcpServers\.coxswain more than once/],
  ];
  for (const [text, expected] of cases)
    assert.throws(
      () => withPart(text, server, 'f.json', false),
      (error) => error instanceof Unusable && expected.test(error.message),
      text,
    );
  assert.throws(
    () => addHooks('{\n\n"hooks": {"Stop": {}}}', 'f.json', events),
    /f\.json:3 has something else than a list at hooks\.Stop/,
  );
});

test('[HOOK-3] JSON, generated: set and remove at any place change nothing else', () => {
  const key = fc.constantFrom('a', 'b', 'c', 'é', '"', '__proto__x');
  const value = fc
    .jsonValue({ maxDepth: 3 })
    .filter((each) => each !== null && typeof each === 'object' && !Array.isArray(each));
  const space = fc.constantFrom(undefined, '  ', '\t', '    ');
  fc.assert(
    fc.property(value, space, fc.array(key, { minLength: 1, maxLength: 3 }), (document, indent, at) => {
      const text = JSON.stringify(document, null, indent);
      const path = at.map((name, index) => `${name}${index === 0 ? '-new' : ''}`);
      const set = setJson(text, 'x', path, { ours: true });
      const found = path.reduce<unknown>((inner, name) => (inner as JsonObject)[name], JSON.parse(set));
      assert.deepEqual(found, { ours: true });
      const removed = removeJson(set, 'x', path);
      assert.deepEqual(JSON.parse(removed), JSON.parse(text));
      if (Object.keys(document as object).length > 0) assert.equal(removed, text);
    }),
    { numRuns: 500 },
  );
});
