import { parseOptions } from '../../command-analysis/shell/program-options.ts';
import type { SimpleCommand } from '../../command-analysis/shell/shell-command.ts';
import { baseName, isKnown } from '../../command-analysis/shell/word.ts';

const DOWNLOADS = new Set('curl wget wget2 aria2c axel http https xh'.split(' '));
const RUNS_FILES =
  /^(?:(?:ba|z|da|k|a)?sh|fish|source|\.|python[\d.]*|node|deno|bun|tsx|perl|ruby|php|lua|osascript|installer|msiexec|dpkg|rpm|java)$/;

/** The file names that a download is saved under. */
function savedBy({ name, args, outputs }: SimpleCommand): string[] {
  const options = parseOptions(args, {
    takes:
      '-o --output -O --output-document -P --directory-prefix -d --dir --out -H --header -A -e -u -X --request --data -T --connect-timeout -m --max-time --retry',
  });
  const given = [
    ...options.values('-o', '--output', '--output-document', '--out'),
    ...(name === 'curl' ? [] : options.values('-O')),
  ];
  const urls = options.operands.filter(({ text }) => /^(?:https?|ftp):\/\/|\.\w+\//.test(text));
  const byUrl = (name !== 'curl' || options.has('-O', '--remote-name')) && given.length === 0;
  const lastUrl = options.values('-O').filter(({ text }) => /^https?:/.test(text));
  return [...given, ...outputs, ...(byUrl ? [...urls, ...lastUrl] : [])]
    .filter((word) => isKnown(word) && !/^(?:-|\/dev\/)/.test(word.text))
    .map(({ text }) => baseName(text.replace(/[?#].*$/, '')))
    .filter((file) => file !== '');
}

/** Programs that this command line itself has downloaded and would run. */
export function runsOf(commands: readonly SimpleCommand[]): string[] {
  const fetched = new Set<string>();
  const found: string[] = [];
  for (const command of commands) {
    if (DOWNLOADS.has(command.name)) for (const file of savedBy(command)) fetched.add(file);
    else if (fetched.size > 0) {
      const [first] = command.args.filter(({ text }) => !text.startsWith('-'));
      const file =
        command.program.includes('/') || fetched.has(command.program) ? baseName(command.program) : '';
      if (fetched.has(file)) found.push(command.program);
      else if (RUNS_FILES.test(command.name) && first !== undefined && fetched.has(baseName(first.text)))
        found.push(`${command.name} ${first.text}`);
    }
  }
  return found;
}
