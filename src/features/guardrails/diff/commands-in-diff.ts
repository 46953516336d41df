import type { FileKind } from './file-kinds.ts';
import type { Line } from './parse-diff.ts';

/** Text in a file that would be passed to a shell. */
export interface Script {
  readonly text: string;
  readonly lines: readonly Line[];
}

/** The commands in a part of a file that is not itself a shell script. */
export function scriptsIn(kind: FileKind, hunk: readonly Line[]): Script[] {
  switch (kind) {
    case 'shell':
      return [{ text: hunk.map(({ text }) => text).join('\n'), lines: hunk }];
    case 'make':
      return recipes(hunk);
    case 'image':
      return imageSteps(hunk);
    case 'workflow':
      return workflowSteps(hunk);
    case 'package':
      return packageScripts(hunk);
    default:
      return [];
  }
}

/** Joins lines that end with a backslash. */
export function joined(lines: readonly Line[]): Script[] {
  const scripts: Script[] = [];
  let part: Line[] = [];
  for (const line of lines) {
    part.push(line);
    if (/(?:^|[^\\])(?:\\\\)*\\$/.test(line.text)) continue;
    scripts.push(scriptOf(part));
    part = [];
  }
  return part.length === 0 ? scripts : [...scripts, scriptOf(part)];
}

function scriptOf(lines: readonly Line[]): Script {
  const text = lines.map(({ text: each }) => each).join('\n');
  return { text: text.replaceAll('\\\n', ' '), lines };
}

/** The shell does not know what make fills in, except for its two best-known programs. */
function recipes(hunk: readonly Line[]): Script[] {
  return joined(hunk.filter(({ text }) => /^\t| {2,}\S/.test(text))).map(({ text, lines }) => ({
    lines,
    text: text
      .replace(/^\s*[@+-]*/, '')
      .replaceAll(/\$[({]RM[)}]/g, 'rm -f')
      .replaceAll(/\$[({]MAKE[)}]/g, 'make')
      .replaceAll(/\$\(([A-Za-z_]\w*)\)/g, (_, name: string) => `\${${name}}`)
      .replaceAll('$$', '$'),
  }));
}

function imageSteps(hunk: readonly Line[]): Script[] {
  return joined(hunk).flatMap(({ text, lines }) => {
    const step = /^\s*(?:RUN|CMD|ENTRYPOINT|HEALTHCHECK\s+CMD)\s+((?:--\S+\s+)*)(.*)$/is
      .exec(text)?.[2]
      ?.trim();
    if (step === undefined) return [];
    return [{ lines, text: step.startsWith('[') ? execForm(step) : step }];
  });
}

/** `["sh", "-c", "…"]` */
function execForm(step: string): string {
  try {
    const words: unknown = JSON.parse(step);
    return Array.isArray(words)
      ? words.map((word) => `'${String(word).replaceAll("'", "'\\''")}'`).join(' ')
      : step;
  } catch {
    return step;
  }
}

const STEP = /^(\s*(?:-\s+)?)(?:run|script|command|commands|before_script|after_script|bash):\s*(.*)$/;
const KEY = /^\s*(?:-\s+)?["']?[\w.-]+["']?:(?:\s|$)/;

/**
 * `run:` and similar keys, with what is indented below. The part of a file that a diff shows may begin in the
 * middle of a step: lines before the first key are treated as one.
 */
function workflowSteps(hunk: readonly Line[]): Script[] {
  const scripts: Script[] = [];
  let block: Line[] = [];
  let indent = -1;
  const close = () => {
    if (block.length > 0) scripts.push(commandsOf(block));
    block = [];
  };
  for (const line of hunk) {
    const own = line.text.length - line.text.trimStart().length;
    const step = STEP.exec(line.text);
    if (step !== null) {
      close();
      indent = step[1]?.length ?? 0;
      if (!/^[|>][\d+-]*\s*(?:#.*)?$/.test(step[2] ?? ''))
        block.push({ ...line, text: yamlText(step[2] ?? '') });
    } else if (
      indent >= 0
        ? own > indent || line.text.trim() === '' || isItem(line.text, own, indent)
        : !KEY.test(line.text)
    ) {
      block.push({
        ...line,
        text: indent >= 0 && isItem(line.text, own, indent) ? yamlText(line.text) : line.text,
      });
    } else {
      close();
      indent = Number.MAX_SAFE_INTEGER;
    }
  }
  close();
  return scripts;
}

/** GitLab's scripts are lists, whose items may be at the same indentation as their key. */
function isItem(text: string, own: number, indent: number): boolean {
  return /^\s*- /.test(text) && own >= indent && !KEY.test(text);
}

function yamlText(value: string): string {
  const item = value.trim().replace(/^- /, '');
  if (/^".*"$/.test(item)) return item.slice(1, -1).replaceAll('\\"', '"');
  return /^'.*'$/.test(item) ? item.slice(1, -1).replaceAll("''", "'") : item;
}

function commandsOf(block: readonly Line[]): Script {
  const text = block.map((line) => line.text.trim()).join('\n');
  return { lines: block, text: text.replaceAll(/\$\{\{[^}]*\}\}/g, 'EXPRESSION') };
}

/**
 * Any text under any name: a part of a file does not tell which of them are scripts. A version is no command.
 */
function packageScripts(hunk: readonly Line[]): Script[] {
  return hunk.flatMap((line) => {
    const value = /^\s*"(?:[^"\\]|\\.)*"\s*:\s*("(?:[^"\\]|\\.)*")\s*,?\s*$/.exec(line.text)?.[1];
    if (value === undefined) return [];
    try {
      return [{ text: String(JSON.parse(value)), lines: [line] }];
    } catch {
      return [];
    }
  });
}
