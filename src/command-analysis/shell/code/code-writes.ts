/**
 * What one-liners of other languages write, found by commonly used calls. This parses no language: a path
 * counts if it is a literal, or a variable that was assigned one.
 */
export interface CodeWrites {
  readonly writes: readonly { readonly path: string; readonly how: 'file' | 'tree' }[];
  /** The source of paths that are computed at run time. */
  readonly unclear: readonly string[];
}

const CHARS_MAX = 20_000;
const FOUND_MAX = 100;

const STRING = String.raw`(?:'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|\x60[^\x60\n$]*\x60)`;
/** A literal, or a named value; for paths also `Path('x')`. */
const PATH = String.raw`(?:[rbuf]?${STRING}|(?:pathlib\.)?Path\(\s*${STRING}\s*\)|[A-Za-z_$@][\w.$]*(?:\[[^\]\n]{0,80}\]|\([^()\n]{0,80}\))?)`;

interface Call {
  readonly pattern: RegExp;
  readonly loose?: boolean;
  /** What else the program has to contain for the call to write. */
  readonly only?: RegExp;
  readonly how: 'file' | 'tree';
}

/** Which of a call's arguments are written: groups of the pattern. */
function call(source: string, how: 'file' | 'tree' = 'file'): Call {
  return {
    pattern: new RegExp(source.replaceAll('PATH', `(${PATH})`).replaceAll('SKIP', `(?:${PATH})`), 'g'),
    how,
  };
}

function calls(): Call[] {
  return [
    // open(path, 'w'), File.open(path, 'w')
    call(String.raw`(?<![\w$])open\(\s*PATH\s*,\s*(?:mode\s*=\s*)?['"][rbt]*[wax+]`),
    call(String.raw`(?<![\w$.])PATH\.open\(\s*(?:mode\s*=\s*)?['"][rbt]*[wax+]`),
    call(String.raw`(?<![\w$.])PATH\.(?:write_text|write_bytes|unlink|touch|mkdir|rmdir)\(`),
    // Strings and tables have methods of these names too: only a readable path counts.
    { ...call(String.raw`(?<![\w$.])PATH\.(?:rename|replace)\(\s*PATH\s*\)`), loose: true },
    call(String.raw`os\.(?:remove|unlink|rmdir|mkdir|makedirs|truncate|chmod)\(\s*PATH`),
    call(String.raw`os\.(?:rename|replace|renames)\(\s*PATH\s*,\s*PATH`),
    call(String.raw`shutil\.rmtree\(\s*PATH`, 'tree'),
    call(String.raw`shutil\.move\(\s*PATH\s*,\s*PATH`, 'tree'),
    call(String.raw`shutil\.copytree\(\s*SKIP\s*,\s*PATH`, 'tree'),
    call(String.raw`shutil\.copy(?:file|2)?\(\s*SKIP\s*,\s*PATH`),
    // Node
    call(String.raw`\b(?:writeFile|appendFile|truncate|unlink|mkdir|rmdir|chmod)(?:Sync)?\(\s*PATH`),
    call(String.raw`\b(?:createWriteStream|writeTextFile|writeTextFileSync|Bun\.write)\(\s*PATH`),
    call(String.raw`\b(?:fs|promises|Deno)\.(?:rm|remove)(?:Sync)?\(\s*PATH`, 'tree'),
    call(String.raw`\brmSync\(\s*PATH`, 'tree'),
    call(String.raw`\brename(?:Sync)?\(\s*PATH\s*,\s*PATH`),
    call(String.raw`\bcopyFile(?:Sync)?\(\s*SKIP\s*,\s*PATH`),
    call(String.raw`\bcp(?:Sync)?\(\s*SKIP\s*,\s*PATH`, 'tree'),
    // SQLite
    ...[
      String.raw`\bsqlite3?\.connect\(\s*PATH`,
      String.raw`\b(?:Database|DatabaseSync)(?:\.new|\))?\(\s*PATH`,
    ].map((source): Call => ({ ...call(source), loose: true, only: SQL_WRITES })),
    // Ruby, Perl, PHP
    call(String.raw`\b(?:File|IO)\.(?:bin)?write\(\s*PATH`),
    call(String.raw`\bFile\.(?:delete|unlink)\(\s*PATH`),
    call(String.raw`\bFileUtils\.(?:rm_rf|rm_r|remove_dir)\(?\s*PATH`, 'tree'),
    call(String.raw`\bFileUtils\.(?:rm|rm_f|touch|mkdir_p)\(?\s*PATH`),
    call(String.raw`\bopen\s?\(?[^,;()\n]{0,80},\s*['"]\+?>{1,2}[^'"]*['"]\s*,\s*PATH`),
    call(String.raw`(?<![\w.])unlink\s+PATH`),
    call(String.raw`\bfile_put_contents\(\s*PATH`),
  ];
}

const SQL_WRITES = /\b(?:insert|update|delete|replace|drop|alter|create|vacuum|reindex|attach)\b/i;

/** Compiled when the first program is met: few command lines contain one. */
let CALLS: readonly Call[] | undefined;
/** Every call above contains one of these. */
const MARK =
  /open|[wW]rite|touch|mkdir|makedirs|rm|unlink|rename|replace|move|truncate|chmod|copy|cp|delete|appendFile|file_put_contents|connect|Database/;

const WHOLE = new RegExp(String.raw`^[rbuf]?(${STRING})$|^(?:pathlib\.)?Path\(\s*(${STRING})\s*\)$`);
const JOINED = /^(?:os\.)?(?:path\.)?join\(/;
const STRINGS = new RegExp(STRING, 'g');

function unquote(text: string): string {
  return text.slice(1, -1).replace(/\\(.)/g, '$1');
}

/** The path an argument stands for, if it is readable. */
function pathOf(argument: string, variables: ReadonlyMap<string, string>): string | undefined {
  if (/^f['"]/.test(argument) && argument.includes('{')) return undefined;
  const [, plain, wrapped] = WHOLE.exec(argument) ?? [];
  const literal = plain ?? wrapped;
  if (literal !== undefined) return unquote(literal);
  if (!JOINED.test(argument)) return variables.get(argument);
  const inside = argument.slice(argument.indexOf('(') + 1, -1);
  const bare = inside.replace(STRINGS, '').replace(/[\s,]/g, '') === '';
  return bare ? (inside.match(STRINGS) ?? []).map(unquote).join('/') : undefined;
}

function variablesIn(code: string): Map<string, string> {
  const found = new Map<string, string>();
  const assignment = new RegExp(
    String.raw`(?<![\w$@])([A-Za-z_$@]\w*)\s*=\s*(?:r|(?:pathlib\.)?Path\(\s*)?(${STRING})\s*\)?\s*(?=[;\n,]|$)`,
    'g',
  );
  for (const [, name = '', value = ''] of code.matchAll(assignment)) {
    found.set(name, unquote(value));
    if (found.size > FOUND_MAX) break;
  }
  return found;
}

export function writesInCode(source: string): CodeWrites {
  const code = source.slice(0, CHARS_MAX);
  if (!MARK.test(code)) return { writes: [], unclear: [] };
  const writes: { path: string; how: 'file' | 'tree' }[] = [];
  const unclear: string[] = [];
  const variables = variablesIn(code);
  CALLS ??= calls();
  for (const { pattern, how, loose, only } of CALLS) {
    if (only?.test(code) === false) continue;
    for (const match of code.matchAll(pattern)) {
      for (const argument of match.slice(1)) {
        const path = pathOf(argument, variables);
        if (path !== undefined) writes.push({ path, how });
        else if (loose !== true) unclear.push(argument);
      }
      if (writes.length + unclear.length > FOUND_MAX) return { writes, unclear: [...unclear, 'and more'] };
    }
  }
  return { writes, unclear };
}
