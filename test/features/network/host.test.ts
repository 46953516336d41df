import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readAddress, specialRange } from '../../../src/features/network/address.ts';
import { hostOf, normalEntry } from '../../../src/features/network/settings/host.ts';
import { originText, readAttempt } from '../../../src/features/network/settings/network-target.ts';

/** Spelling → the one normal form. */
const SAME: Record<string, string> = {
  'example.com': 'example.com',
  'EXAMPLE.com': 'example.com',
  'ExAmPlE.CoM.': 'example.com',
  'example.com.': 'example.com',
  'example。com': 'example.com',
  'example．com': 'example.com',
  'example｡com': 'example.com',
  'ｅｘａｍｐｌｅ.com': 'example.com',
  'ⓔxample.com': 'example.com',
  '𝐞𝐱𝐚𝐦𝐩𝐥𝐞.com': 'example.com',
  'bücher.example': 'xn--bcher-kva.example',
  'BÜCHER.example': 'xn--bcher-kva.example',
  'xn--bcher-kva.example': 'xn--bcher-kva.example',
  'XN--BCHER-KVA.example': 'xn--bcher-kva.example',
  '例え.テスト': 'xn--r8jz45g.xn--zckzah',
  // A Cyrillic а: another name, and it looks like it in punycode.
  'ex\u0430mple.com': 'xn--exmple-4nf.com',
  _dmarc: '_dmarc',
  'a_b.example.com': 'a_b.example.com',
  localhost: 'localhost',
  LOCALHOST: 'localhost',
  'localhost.': 'localhost',
  '127.0.0.1': '127.0.0.1',
  '127.0.0.1.': '127.0.0.1',
  '127.1': '127.0.0.1',
  '127.0.1': '127.0.0.1',
  '2130706433': '127.0.0.1',
  '0x7f000001': '127.0.0.1',
  '0X7F.1': '127.0.0.1',
  '0x7f.0x0.0x0.0x1': '127.0.0.1',
  '0177.0.0.1': '127.0.0.1',
  '017700000001': '127.0.0.1',
  '00000177.1': '127.0.0.1',
  '①②⑦.0.0.1': '127.0.0.1',
  '127。0。0。1': '127.0.0.1',
  '169.254.169.254': '169.254.169.254',
  '2852039166': '169.254.169.254',
  '0xa9fea9fe': '169.254.169.254',
  '0xA9.0xFE.0xA9.0xFE': '169.254.169.254',
  '0251.0376.0251.0376': '169.254.169.254',
  '169.254.43518': '169.254.169.254',
  '169.16689662': '169.254.169.254',
  '0': '0.0.0.0',
  '0x': '0.0.0.0',
  '010.0.0.1': '8.0.0.1',
  '[::1]': '::1',
  '::1': '::1',
  '0:0:0:0:0:0:0:1': '::1',
  '[0000:0000:0000:0000:0000:0000:0000:0001]': '::1',
  '[::ffff:127.0.0.1]': '127.0.0.1',
  '::ffff:7f00:1': '127.0.0.1',
  '[0:0:0:0:0:ffff:169.254.169.254]': '169.254.169.254',
  '[64:ff9b::a9fe:a9fe]': '169.254.169.254',
  '[FE80::1]': 'fe80::1',
  '[2001:0DB8::0:1]': '2001:db8::1',
};

test('[NET-1] every spelling of a host is one host', () => {
  for (const [text, host] of Object.entries(SAME))
    assert.deepEqual(hostOf(text), { ok: true, host }, JSON.stringify(text));
});

const REFUSED: Record<string, string> = {
  '': 'empty',
  ' ': 'control_character',
  ' example.com': 'control_character',
  'example.com ': 'control_character',
  'exam ple.com': 'control_character',
  'example.com\t': 'control_character',
  'example.com\r\nHost: evil.com': 'control_character',
  'example.com\n': 'control_character',
  'example\0.com': 'control_character',
  'exa\u00admple.com': 'control_character',
  'exa\u200bmple.com': 'control_character',
  'exa\u200dmple.com': 'control_character',
  '\ufeffexample.com': 'control_character',
  '\u202eexample.com': 'control_character',
  'example.com\u2028': 'control_character',
  'example.com\u3000': 'control_character',
  '\ud800.com': 'control_character',
  'user@example.com': 'user_info',
  'user:pass@example.com': 'user_info',
  'example.com@evil.com': 'user_info',
  '%65xample.com': 'percent_encoding',
  'example%2ecom': 'percent_encoding',
  'example.com%00.evil.com': 'percent_encoding',
  'fe80::1%eth0': 'percent_encoding',
  '[fe80::1%25eth0]': 'percent_encoding',
  '.': 'not_a_host',
  '..': 'not_a_host',
  '.example.com': 'not_a_host',
  'example..com': 'not_a_host',
  'example.com..': 'not_a_host',
  '-example.com': 'not_a_host',
  'example-.com': 'not_a_host',
  '*.example.com': 'not_a_host',
  '*': 'not_a_host',
  'exa*mple.com': 'not_a_host',
  'example.com/': 'not_a_host',
  'example.com\\': 'not_a_host',
  'example.com?': 'not_a_host',
  'example.com#': 'not_a_host',
  'example.com:443': 'not_a_host',
  'example.com／evil': 'not_a_host',
  'example.com＠evil.com': 'not_a_host',
  'example.com：443': 'not_a_host',
  'exa<mple.com': 'not_a_host',
  'exa|mple.com': 'not_a_host',
  'exa^mple.com': 'not_a_host',
  "exa'mple.com": 'not_a_host',
  'exa!mple.com': 'not_a_host',
  'exa$mple.com': 'not_a_host',
  'a,b.com': 'not_a_host',
  'foo.123': 'not_a_host',
  'foo.0x1': 'not_a_host',
  '1.2.3.4.5': 'not_a_host',
  '256.1.1.1': 'not_a_host',
  '1.2.3.256': 'not_a_host',
  '4294967296': 'not_a_host',
  '0x100000000': 'not_a_host',
  '08.8.8.8': 'not_a_host',
  '0xg.1': 'not_a_host',
  '[::1': 'not_a_host',
  '::1]': 'not_a_host',
  '[]': 'not_a_host',
  '[example.com]': 'not_a_host',
  '[127.0.0.1]': 'not_a_host',
  '[1::2::3]': 'not_a_host',
  '[::12345]': 'not_a_host',
  '[v1.fe80]': 'not_a_host',
  ':::': 'not_a_host',
  '1:2:3:4:5:6:7:8:9': 'not_a_host',
  [`${'a'.repeat(64)}.com`]: 'not_a_host',
  [`${'a.'.repeat(127)}com`]: 'too_long',
  ['a'.repeat(1001)]: 'too_long',
};

test('[NET-1] what two programs could read differently is no host', () => {
  for (const [text, problem] of Object.entries(REFUSED))
    assert.deepEqual(hostOf(text), { ok: false, problem }, JSON.stringify(text));
});

test('[NET-1] a normal form is its own normal form, and whatever comes in, nothing is thrown', () => {
  const odd = fc.string({ unit: fc.constantFrom(...'a1.0x:[]%@*\\/ -。①é\u200d\n') });
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'grapheme' }), odd, fc.domain(), fc.ipV4(), fc.ipV6()), (text) => {
      const read = hostOf(text);
      if (read.ok) assert.deepEqual(hostOf(read.host), read);
      readAttempt(text);
      normalEntry(text);
    }),
    { numRuns: 3000 },
  );
});

test('[NET-1] every IPv4 address, in every base and length, is the same address', () => {
  fc.assert(
    fc.property(
      fc.ipV4(),
      fc.constantFrom(8, 10, 16),
      fc.integer({ min: 1, max: 4 }),
      (address, base, parts) => {
        const octets = address.split('.').map(Number);
        const written = (value: number) => `${{ 8: '0', 10: '', 16: '0x' }[base]}${value.toString(base)}`;
        const last = octets.slice(parts - 1).reduce((value, octet) => value * 256 + octet, 0);
        const text = [...octets.slice(0, parts - 1), last].map(written).join('.');
        assert.deepEqual(hostOf(text), { ok: true, host: address }, text);
      },
    ),
  );
});

test('[NET-1] addresses that lead to this machine or behind it are told from public ones', () => {
  const kinds: Record<string, string> = {
    loopback: '127.0.0.1 127.255.255.255 ::1 ::ffff:127.0.0.1 64:ff9b::7f00:1',
    private: '10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 100.64.0.1 fc00::1 fdff::1 fec0::1',
    link_local: '169.254.0.1 169.254.169.253 fe80::1 febf::1',
    metadata:
      '169.254.169.254 169.254.170.2 100.100.100.200 168.63.129.16 192.0.0.192 fd00:ec2::254 ::ffff:a9fe:a9fe',
    multicast: '224.0.0.1 239.255.255.255 ff02::1',
    reserved:
      '0.0.0.0 0.1.2.3 192.0.2.1 198.18.0.1 198.51.100.1 203.0.113.1 240.0.0.1 255.255.255.255 :: ::7f00:1 2001::1 2001:db8::1 2002:7f00:1:: 4000::1 64:ff9b:1::1',
    public:
      '1.1.1.1 8.8.8.8 172.15.0.1 172.32.0.1 11.0.0.1 100.128.0.1 2606:4700::1111 2a00::1 ::ffff:8.8.8.8 64:ff9b::808:808',
  };
  for (const [kind, addresses] of Object.entries(kinds))
    for (const text of addresses.split(' ')) {
      const address = readAddress(text);
      assert.ok(address, text);
      assert.equal(specialRange(address)?.kind ?? 'public', kind, text);
    }
  for (const text of [
    '1.2.3',
    '1.2.3.4.5',
    '01.2.3.4',
    '1.2.3.256',
    '1.2.3.4 ',
    '::1%lo',
    '1:2',
    ':::',
    '1::2::3',
    '',
  ])
    assert.equal(readAddress(text), undefined, text);
});

/** Text and port → host and port, or undefined where it is none. */
const TARGETS: [string, number | undefined, string | undefined][] = [
  ['https://example.com/a?b#c', undefined, 'example.com 443'],
  ['http://example.com', undefined, 'example.com 80'],
  ['HTTP://EXAMPLE.COM:8080/', undefined, 'example.com 8080'],
  ['wss://example.com', undefined, 'example.com 443'],
  ['ssh://example.com', undefined, 'example.com 22'],
  ['other://example.com', undefined, 'example.com 443'],
  ['example.com', undefined, 'example.com 443'],
  ['example.com', 80, 'example.com 80'],
  ['example.com:8443', 80, 'example.com 8443'],
  ['example.com:8443/path', undefined, 'example.com 8443'],
  ['localhost:8123', undefined, 'localhost 8123'],
  ['[::1]:8080', undefined, '::1 8080'],
  ['::1', 80, '::1 80'],
  ['http://[::ffff:127.0.0.1]/', undefined, '127.0.0.1 80'],
  ['http://0x7f.1:9/', undefined, '127.0.0.1 9'],
  ['https://example.com:/', undefined, 'example.com 443'],
  ['example.com:0', undefined, undefined],
  ['example.com:65536', undefined, undefined],
  ['example.com:99999', undefined, undefined],
  ['example.com:443:80', undefined, undefined],
  ['example.com:abc', undefined, undefined],
  ['example.com:+80', undefined, undefined],
  ['https://user:pass@example.com/', undefined, undefined],
  ['https://example.com@evil.com/', undefined, undefined],
  ['https://example.com\\@evil.com/', undefined, undefined],
  ['https://evil.com\\.example.com/', undefined, undefined],
  ['https:\\\\example.com', undefined, undefined],
  ['https:/example.com', undefined, undefined],
  ['https:///example.com', undefined, undefined],
  ['https:example.com', undefined, undefined],
  ['//example.com/', undefined, undefined],
  ['https://', undefined, undefined],
  [' https://example.com', undefined, undefined],
  ['https://exa\tmple.com', undefined, undefined],
  ['javascript:alert(1)', undefined, undefined],
  ['file:///etc/passwd', undefined, undefined],
  ['data:text/html,x', undefined, undefined],
  ['/etc/passwd', undefined, undefined],
  ['[::1]x:80', undefined, undefined],
];

test('[NET-1] what a URL leads to, and what leads nowhere', () => {
  for (const [text, port, expected] of TARGETS) {
    const { target } = readAttempt(text, port);
    assert.equal(target && `${target.host} ${target.port}`, expected, text);
  }
});

test('[NET-2] of a URL only scheme, host and port go any further', () => {
  const kept: [string, string][] = [
    ['https://user:s3cret@example.com:8443/s3cret?s3cret#s3cret', 'https://…@example.com:8443'],
    ['https://s3cret@x@example.com', 'https://…@example.com'],
    ['example.com/s3cret', 'example.com'],
    ['user:s3cret@example.com', '…@example.com'],
    ['https://example.com\\s3cret', 'https://example.com\\'],
    ['https://s3cret\\@example.com', 'https://…@example.com'],
    ['example.com?s3cret', 'example.com'],
  ];
  for (const [text, shown] of kept) assert.equal(originText(text), shown);
});
