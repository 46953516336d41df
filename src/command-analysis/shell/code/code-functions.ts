import { concatenated, filled, HOME, text, textOfValue, unknown, type Value } from './code-value.ts';

type Fn = (args: readonly Value[]) => Value;
type Method = (self: Value, args: readonly Value[]) => Value;

/** For functions that take a string. */
const onText =
  (change: (value: string, ...more: (string | undefined)[]) => string | undefined): Fn =>
  ([first = unknown('…'), ...rest]) => {
    const given = first.kind === 'text' ? change(first.text, ...rest.map(textOfValue)) : undefined;
    return given === undefined ? unknown('…') : text(given);
  };

const asMethod =
  (fn: Fn): Method =>
  (self, args) =>
    fn([self, ...args]);

const base64 = (value: string): string => Buffer.from(value, 'base64').toString('utf8');
const hex = (value: string): string => Buffer.from(value, 'hex').toString('utf8');

const rot13 = (value: string): string =>
  value.replace(/[a-z]/gi, (letter) => {
    const start = letter <= 'Z' ? 65 : 97;
    return String.fromCharCode(((letter.charCodeAt(0) - start + 13) % 26) + start);
  });

const chr: Fn = (args) => {
  const numbers = args.flatMap((value) => (value.kind === 'list' ? value.items : [value]));
  if (numbers.some((value) => value.kind !== 'number')) return unknown('…');
  const codes = numbers.map((value) => (value.kind === 'number' ? value.number : 0));
  return codes.every((code) => code >= 0 && code <= 0x10ffff)
    ? text(codes.map((code) => String.fromCodePoint(code)).join(''))
    : unknown('…');
};

const map: Fn = ([fn = unknown('…'), list = unknown('…')]) => {
  const called = fn.kind === 'function' && Object.hasOwn(FUNCTIONS, fn.name) ? FUNCTIONS[fn.name] : undefined;
  if (called === undefined || list.kind !== 'list') return unknown('…');
  return { kind: 'list', items: list.items.map((item) => called([item])) };
};

const join = (by: string, values: readonly Value[]): Value =>
  values.reduce<Value>(
    (left, right, index) => (index === 0 ? right : concatenated(concatenated(left, text(by)), right)),
    text(''),
  );

const joined: Method = (self, args) => {
  const [first = text(',')] = args;
  // 'x'.join(list) in Python, list.join('x') in the other languages.
  if (self.kind === 'text' && first.kind === 'list') return join(self.text, first.items);
  if (self.kind === 'list') return join(textOfValue(first) ?? ',', self.items);
  if (self.kind === 'text' && first.kind === 'text') return join('/', [self, ...args]);
  return self.kind === 'function' ? join('/', args) : unknown('…');
};

const same: Fn = ([first = unknown('…')]) => first;

const reversed: Method = (self) => {
  if (self.kind === 'list') return { kind: 'list', items: [...self.items].reverse() };
  return self.kind === 'text' ? text([...self.text].reverse().join('')) : unknown('…');
};

const split: Method = (self, [by]) => {
  if (self.kind !== 'text' || self.holes === true) return unknown('…');
  const separator = by === undefined ? /\s+/ : (textOfValue(by) ?? /\s+/);
  return { kind: 'list', items: self.text.split(separator).slice(0, 1000).map(text) };
};

const glob = (value: Value, below: string): Value =>
  value.kind === 'text' ? { kind: 'text', text: value.text + below, glob: true } : unknown('…');

const buffer: Fn = ([value = unknown('…'), encoding]) => {
  if (value.kind === 'list') return chr(value.items);
  const how = encoding === undefined ? '' : textOfValue(encoding);
  if (value.kind !== 'text') return value;
  return how === 'base64' ? text(base64(value.text)) : how === 'hex' ? text(hex(value.text)) : value;
};

/** What a call returns, by the last part of the function's name. */
export const FUNCTIONS: Readonly<Record<string, Fn>> = {
  chr,
  fromCharCode: chr,
  fromCodePoint: chr,
  bytes: chr,
  bytearray: chr,
  pack: (args) => chr(args.slice(1)),
  b64decode: onText(base64),
  urlsafe_b64decode: onText(base64),
  decodestring: onText(base64),
  base64_decode: onText(base64),
  decode_base64: onText(base64),
  decode64: onText(base64),
  atob: onText(base64),
  a2b_hex: onText(hex),
  unhexlify: onText(hex),
  fromhex: onText(hex),
  hex2bin: onText(hex),
  str_rot13: onText(rot13),
  strrev: onText((value) => [...value].reverse().join('')),
  str: same,
  escapeshellarg: same,
  escapeshellcmd: same,
  quote: same,
  shellescape: same,
  realpath: same,
  String: same,
  Path: same,
  PurePath: same,
  list: ([first = unknown('…')]) =>
    first.kind === 'text' ? { kind: 'list', items: [...first.text].map(text) } : first,
  reversed: ([first = unknown('…')]) => reversed(first, []),
  from: buffer,
  map,
  expanduser: onText((value) => value.replace(/^~(?=\/|$)/, HOME)),
  expandvars: onText((value) => value.replace(/\$HOME\b/, HOME)),
  homedir: () => text(HOME),
  home: () => text(HOME),
  cwd: () => text('.'),
  getcwd: () => text('.'),
  abspath: same,
  resolve: (args) => join('/', args),
  join: (args) => {
    const [first, second] = args;
    if (second?.kind === 'list') return joined(first ?? unknown('…'), [second]);
    return join('/', args);
  },
  implode: ([by = text(''), list = unknown('…')]) => joined(by, [list]),
  split: ([first = unknown('…'), by]) => split(first, by === undefined ? [] : [by]),
  getenv: ([name]) => (name?.kind === 'text' && name.text === 'HOME' ? text(HOME) : unknown('…')),
  glob: ([pattern = unknown('…')]) => glob(pattern, ''),
  iglob: ([pattern = unknown('…')]) => glob(pattern, ''),
  globSync: ([pattern = unknown('…')]) => glob(pattern, ''),
  listdir: ([folder = text('.')]) => glob(folder, '/*'),
  scandir: ([folder = text('.')]) => glob(folder, '/*'),
  readdirSync: ([folder = text('.')]) => glob(folder, '/*'),
  walk: ([folder = text('.')]) => glob(folder, '/**'),
  decode: ([first = unknown('…'), how]) =>
    first.kind === 'text' && /rot.?13/.test((how === undefined ? '' : textOfValue(how)) ?? '')
      ? text(rot13(first.text))
      : first,
  require: ([first = unknown('…')]) => ({ kind: 'function', name: textOfValue(first) ?? '' }),
  __import__: ([first = unknown('…')]) => ({ kind: 'function', name: textOfValue(first) ?? '' }),
  import_module: ([first = unknown('…')]) => ({ kind: 'function', name: textOfValue(first) ?? '' }),
  getattr: ([, name = unknown('…')]) => ({ kind: 'function', name: textOfValue(name) ?? '' }),
};

const lower = asMethod(onText((value) => value.toLowerCase()));
const upper = asMethod(onText((value) => value.toUpperCase()));
const trimmed = asMethod(onText((value) => value.trim()));

/** The same for methods; where the value is no string they may be functions of a module. */
export const METHODS: Readonly<Record<string, Method | undefined>> = {
  join: joined,
  reverse: reversed,
  split: (self, args) => (self.kind === 'function' ? split(args[0] ?? unknown('…'), []) : split(self, args)),
  format: (self, args) => filled(self, args),
  concat: (self, args) => args.reduce(concatenated, self),
  replace: (self, [from = unknown('…'), to = unknown('…')]) =>
    self.kind === 'text' && from.kind === 'text' && to.kind === 'text' && from.text !== ''
      ? { ...self, text: self.text.replaceAll(from.text, to.text) }
      : unknown('…'),
  strip: trimmed,
  trim: trimmed,
  chomp: trimmed,
  lower,
  toLowerCase: lower,
  downcase: lower,
  upper,
  toUpperCase: upper,
  upcase: upper,
  decode: (self, args) => (self.kind === 'text' ? self : (FUNCTIONS.decode?.(args) ?? unknown('…'))),
  encode: (self) => self,
  toString: (self: Value, args: readonly Value[]): Value =>
    self.kind === 'list' ? chr(self.items) : buffer([self, ...args.slice(0, 0)]),
  unpack1: (self) => asMethod(onText(base64))(self, []),
  slice: (self, [from, to]) =>
    self.kind === 'text' && from?.kind === 'number'
      ? text(self.text.slice(from.number, to?.kind === 'number' ? to.number : undefined))
      : unknown('…'),
  rglob: (self, [name = text('*')]) => glob(self, `/**/${textOfValue(name) ?? '*'}`),
  iterdir: (self) => glob(self, '/*'),
  glob: (self, args) =>
    self.kind === 'text'
      ? glob(self, `/${textOfValue(args[0] ?? text('*')) ?? '*'}`)
      : (FUNCTIONS.glob?.(args) ?? unknown('…')),
  home: () => text(HOME),
  HOME: () => text(HOME),
  environ: () => ({ kind: 'function', name: 'environ' }),
  '[]': (self, [index = unknown('…')]) => {
    // `Dir["*"]` of Ruby.
    if (self.kind === 'function' && self.name === 'Dir') return glob(index, '');
    if (self.kind === 'function' && index.kind === 'text')
      return index.text === 'HOME' && /^(?:environ|env|ENV|\$_SERVER)$/.test(self.name)
        ? text(HOME)
        : { kind: 'function', name: index.text };
    if (index.kind === 'text' && index.text === '::-1') return reversed(self, []);
    if (index.kind !== 'number') return self.kind === 'text' && self.glob === true ? self : unknown('…');
    if (self.kind === 'list') return self.items.at(index.number) ?? unknown('…');
    return self.kind === 'text' ? text(self.text.at(index.number) ?? '') : unknown('…');
  },
};
