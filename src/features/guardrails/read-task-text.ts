import type { Json, JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';

/** A text of a task that an agent would run. */
export interface TaskCommand {
  readonly kind: 'command' | 'sql' | 'diff';
  readonly text: string | readonly string[];
  /** `task_description`, `input_data.command`. */
  readonly field: string;
}

/** More than this are read as one script: none is left out, and its check has a bound of its own. */
const COMMANDS_MAX = 200;
const ORDER_CHARS_MAX = 2000;

/**
 * Programs that can destroy something, or that run other programs: a line that begins with one may be a
 * command.
 */
const PROGRAM =
  '(?:sudo|doas|env|nohup|git|gh|rm|find|xargs|dd|mkfs[.\\w]*|shred|truncate|chmod|chown|sh|bash|zsh|eval|exec|python3?|node|perl|ruby|psql|mysql|mariadb|sqlite3|mongosh?|redis-cli|dropdb|terraform|tofu|kubectl|helm|aws|gcloud|az|docker|podman|npm|yarn|pnpm|cargo|twine|gem|vercel|netlify|fly|heroku|firebase|pulumi|cdk|ansible-playbook|serverless|curl|wget|systemctl|shutdown|reboot|crontab)';
const COMMAND_LINE = new RegExp(`^(?:[A-Za-z_]\\w*=\\S*\\s+)*${PROGRAM}\\s+\\S`);
/** `run git push --force`, `Then execute: rm -rf x`. */
const ORDERED = new RegExp(
  `\\b(?:run|runs|running|execute|executing|invoke|type|do)\\b[\\s:]+(?=${PROGRAM}\\s)`,
  'gi',
);
const MARKED = new RegExp(`[\`$]|(?:^|[\\s:])${PROGRAM}\\s`, 'm');

/** Words that occur in sentences and not in commands. */
const PROSE =
  /(?:^|\s)(?:is|are|was|were|be|been|must|should|would|could|can|may|never|the|an?|this|that|these|those|because|when|which|who|why|does|did|has|have|had|it|its|we|you|they|of|and|but|not|don't|doesn't|isn't|won't)(?=[\s,.;!?]|$)/i;
/** The text talks about a command, or says not to run it. */
const MENTION =
  /\b(?:never|not|no|cannot|without|instead|rather|avoid\w*|forbid\w*|prevent\w*|block\w*|den(?:y|ies|ied)|refus\w*|reject\w*|detect\w*|catch\w*|flag\w*|warn\w*|guard\w*|protect\w*|explain\w*|describe\w*|document\w*|mention\w*|quote\w*|about|why|what|how|whether|if|when|where|that|parse\w*|recogni[sz]e\w*|test\w*|example|like|such|contain\w*|replace\w*|remove\w*|look\w*|find|grep|search\w*)\b|n['’]t\b/i;
const SHELL_FENCE = /^(?:|sh|bash|zsh|shell|console|terminal|shellsession|shell-session|text)$/i;
const SQL_FENCE = /^(?:sql|postgres|postgresql|psql|mysql|sqlite|plpgsql|tsql)$/i;

/** The commands that a task's description asks for. Prose that mentions a command asks for nothing. */
export function commandsIn(description: string, field = 'task_description'): TaskCommand[] {
  if (!MARKED.test(description)) return [];
  const found: TaskCommand[] = [];
  const prose: string[] = [];
  let fence: { language: string; lines: string[] } | undefined;
  for (const line of description.split(/\r?\n/)) {
    const edge = /^\s*(?:```|~~~)\s*([\w-]*)/.exec(line);
    if (edge !== null) {
      if (fence !== undefined) found.push(...fenced(fence.language, fence.lines, field));
      fence = fence === undefined ? { language: edge[1] ?? '', lines: [] } : undefined;
    } else if (fence !== undefined) fence.lines.push(line);
    else prose.push(line);
  }
  // A fence that is never closed extends to the end.
  if (fence !== undefined) found.push(...fenced(fence.language, fence.lines, field));
  for (const line of prose) found.push(...inLine(line, field));
  return folded(found);
}

function fenced(language: string, lines: readonly string[], field: string): TaskCommand[] {
  const isSql = SQL_FENCE.test(language);
  if (!isSql && !SHELL_FENCE.test(language)) return [];
  const text = lines.map((line) => line.replace(/^\s*[$>%#] (?=\S)/, '')).join('\n');
  return [{ kind: isSql ? 'sql' : 'command', text, field }];
}

function inLine(line: string, field: string): TaskCommand[] {
  const command = (text: string): TaskCommand => ({ kind: 'command', text: text.trim(), field });
  const plain = line.trim().replace(/^(?:[-*+]|\d+[.)])\s+/, '');
  if (/^\$ \S/.test(plain)) return [command(plain.slice(2))];
  if (COMMAND_LINE.test(plain) && !PROSE.test(withoutQuotes(plain))) return [command(plain)];
  const found: TaskCommand[] = [];
  for (const match of line.matchAll(/(`{1,2})([^`]{1,2000})\1/g))
    if (!isMentioned(line, match.index)) found.push(command(match[2] ?? ''));
  for (const match of line.matchAll(ORDERED)) {
    const from = match.index + match[0].length;
    const rest = line.slice(from, from + ORDER_CHARS_MAX);
    const end = rest.search(/(?<=\w)[.,;!?](?:\s|$)/);
    if (!isMentioned(line, match.index)) found.push(command(end === -1 ? rest : rest.slice(0, end)));
  }
  return found;
}

function withoutQuotes(line: string): string {
  return line.replaceAll(/"[^"]*"|'[^']*'/g, '""');
}

/** Judged by the sentence before it. */
function isMentioned(line: string, at: number): boolean {
  const before = line.slice(Math.max(0, at - 300), at);
  const sentence = before.split(/[.!?:;](?:\s|$)/).at(-1) ?? '';
  return MENTION.test(sentence.replaceAll(/`[^`]*`/g, ' '));
}

const COMMAND_FIELD =
  /^(?:command|commands|cmd|cmds|script|scripts|run|shell|exec|argv|bash|sh|command_line|pre|post|setup|teardown)$/i;
const SQL_FIELD = /^(?:sql|query|queries|statement|statements)$/i;
const DIFF_FIELD = /^(?:diff|patch)$/i;

/** The commands among the data that a worker is given. */
export function commandsInData(data: Json | undefined): TaskCommand[] {
  const found: TaskCommand[] = [];
  collect(data, 'input_data', 0, found);
  return folded(found);
}

function collect(value: Json | undefined, field: string, depth: number, found: TaskCommand[]): void {
  if (value === null || typeof value !== 'object' || depth > limits.json_depth_max) return;
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) collect(item, `${field}.${index}`, depth + 1, found);
    return;
  }
  for (const [name, inner] of Object.entries(value as JsonObject)) {
    const place = `${field}.${name}`;
    const texts = textsOf(inner);
    if (texts.length === 0) collect(inner, place, depth + 1, found);
    else if (COMMAND_FIELD.test(name)) found.push(...asCommands(texts, Array.isArray(inner), place));
    else if (SQL_FIELD.test(name)) for (const text of texts) found.push({ kind: 'sql', text, field: place });
    else if (DIFF_FIELD.test(name))
      for (const text of texts) found.push({ kind: 'diff', text, field: place });
  }
}

function textsOf(value: Json | undefined): string[] {
  if (typeof value === 'string') return [value];
  const isTexts = Array.isArray(value) && value.every((item) => typeof item === 'string');
  return isTexts ? (value as string[]) : [];
}

/** A list is several commands, or the words of one: it is read both ways. */
function asCommands(texts: readonly string[], isList: boolean, field: string): TaskCommand[] {
  const found: TaskCommand[] = texts.map((text) => ({ kind: 'command', text, field }));
  return isList && texts.length > 1 ? [...found, { kind: 'command', text: texts, field }] : found;
}

function folded(found: readonly TaskCommand[]): TaskCommand[] {
  const isSingle = ({ kind, text }: TaskCommand) => kind === 'command' && typeof text === 'string';
  const commands = found.filter(isSingle);
  if (commands.length <= COMMANDS_MAX) return [...found];
  const text = commands.map((command) => command.text).join('\n');
  const script: TaskCommand = { kind: 'command', text, field: commands[0]?.field ?? '' };
  return [script, ...found.filter((each) => !isSingle(each))];
}
