import ts from 'typescript';
import { isCode, parse, type SourceText, visit } from './files.ts';

/** A rule looks at one file and answers its complaints: `path:line what`. */
export type Rule = (file: SourceText) => string[];

const FILE_LINES_MAX = 400;
const TEST_FILE_LINES_MAX = 500;
const FUNCTION_LINES_MAX = 70;

function complaint(file: SourceText, offset: number, what: string): string {
  return `${file.path}:${file.text.slice(0, offset).split('\n').length} ${what}`;
}

/** The rule in most of its shapes: a question asked of every node of the syntax tree. */
function syntaxRule(applies: (path: string) => boolean, ask: (node: ts.Node) => string | null): Rule {
  return (file) => {
    if (!isCode(file) || !applies(file.path)) return [];
    const found: string[] = [];
    const source = parse(file);
    visit(source, (node) => {
      const what = ask(node);
      if (what !== null) found.push(complaint(file, node.getStart(source), what));
    });
    return found;
  };
}

const everywhere = (): boolean => true;
const isTest = (path: string): boolean => path.startsWith('test/');

export const fileLength: Rule = (file) => {
  const lines = file.text.trimEnd().split('\n').length;
  const lines_max = isTest(file.path) ? TEST_FILE_LINES_MAX : FILE_LINES_MAX;
  return isCode(file) && lines > lines_max ? [`${file.path} has ${lines} lines, more than ${lines_max}`] : [];
};

function linesOf(node: ts.Node): number {
  const source = node.getSourceFile();
  const line = (offset: number): number => source.getLineAndCharacterOfPosition(offset).line;
  return line(node.getEnd()) - line(node.getStart(source)) + 1;
}

function nestedLines(node: ts.Node): number {
  let lines = 0;
  ts.forEachChild(node, (child) => {
    lines += ts.isFunctionLike(child) ? linesOf(child) : nestedLines(child);
  });
  return lines;
}

/** In tests what counts is a function's own lines: a suite is a function full of functions. */
export const functionLength: Rule = syntaxRule(everywhere, (node) => {
  if (!ts.isFunctionLike(node)) return null;
  const lines = linesOf(node) - (isTest(node.getSourceFile().fileName) ? nestedLines(node) : 0);
  return lines > FUNCTION_LINES_MAX ? `a function of ${lines} lines, more than ${FUNCTION_LINES_MAX}` : null;
});

const BANNED_CALLS = [
  'Date.now',
  'Date',
  'Math.random',
  'crypto.randomUUID',
  'randomUUID',
  'crypto.randomBytes',
  'randomBytes',
  'performance.now',
  'process.hrtime',
  'process.hrtime.bigint',
];

/** Time, ids and randomness come from src/kernel, so that tests and the simulation can pass their own. */
export const bannedCalls: Rule = syntaxRule(
  (path) => path.startsWith('src/') && !path.startsWith('src/kernel/'),
  (node) => {
    if (ts.isNewExpression(node) && node.expression.getText() === 'Date' && !node.arguments?.length) {
      return '`new Date()` outside src/kernel';
    }
    if (!ts.isCallExpression(node) && !ts.isPropertyAccessExpression(node)) return null;
    const name = (ts.isCallExpression(node) ? node.expression : node).getText().replace(/^globalThis\./, '');
    // `Date.now` handed over as a function is the same clock as `Date.now()`; report the call only once.
    if (
      ts.isPropertyAccessExpression(node) &&
      ts.isCallExpression(node.parent) &&
      node.parent.expression === node
    )
      return null;
    return BANNED_CALLS.includes(name) ? `\`${name}\` outside src/kernel` : null;
  },
);

/** A fixed pause is either too short or too long: wait for a signal or a condition. Support code may poll for one. */
export const fixedSleeps: Rule = syntaxRule(
  (path) => isTest(path) && !path.startsWith('test/support/'),
  (node) => {
    if (ts.isImportDeclaration(node) && /node:timers\/promises/.test(node.moduleSpecifier.getText())) {
      return 'a sleep in a test: wait for a condition (test/support)';
    }
    if (!ts.isCallExpression(node) || node.expression.getText() !== 'setTimeout') return null;
    const callback = node.arguments[0];
    return callback !== undefined &&
      ts.isIdentifier(callback) &&
      /^(r|res|resolve|done|ok)$/.test(callback.text)
      ? 'a sleep in a test: wait for a condition (test/support)'
      : null;
  },
);

const TEST_CALLS = /^(test|it|describe|suite|t\.test)$/;
const MUTED = /^(only|skip|todo)$/;

export const mutedTests: Rule = syntaxRule(isTest, (node) => {
  if (!ts.isCallExpression(node)) return null;
  if (ts.isPropertyAccessExpression(node.expression) && MUTED.test(node.expression.name.text)) {
    return `\`${node.expression.getText()}()\`: no test is muted`;
  }
  if (!TEST_CALLS.test(node.expression.getText())) return null;
  for (const options of node.arguments.filter(ts.isObjectLiteralExpression)) {
    const muted = options.properties.find((property) => MUTED.test(property.name?.getText() ?? ''));
    if (muted !== undefined) return `\`${muted.getText()}\`: no test is muted`;
  }
  return null;
});

/** The one exception erases a type argument (`List<any>`) and says on the line above why that is sound. */
export const noAny: Rule = syntaxRule(
  (path) => path.endsWith('.ts'),
  (node) => {
    if (node.kind !== ts.SyntaxKind.AnyKeyword) return null;
    const source = node.getSourceFile();
    const { line } = source.getLineAndCharacterOfPosition(node.getStart(source));
    const above = source.text.split('\n')[line - 1] ?? '';
    const reasoned = ts.isTypeReferenceNode(node.parent) && /biome-ignore .*noExplicitAny: \w/.test(above);
    return reasoned ? null : '`any`';
  },
);

export const noTypeEscapes: Rule = (file) => {
  const escapes = [...file.text.matchAll(/\/[/*]\s*@ts-(ignore|nocheck|expect-error)/g)];
  return isCode(file) ? escapes.map((match) => complaint(file, match.index, match[0])) : [];
};

/** `/work/<verb>` is a route of the HTTP door: one segment. Anything deeper below these folders is some machine's. */
const WORK_ROUTE = '(?!main|shared)[a-z]+(?:[-_][a-z]+)*(?![\\w/.-])';
const MACHINE_PATH = new RegExp(`(?<![\\w.\\-*])/(?:(?:root|home|Users)/\\w|work/(?!${WORK_ROUTE})\\w)`, 'g');

export const machinePaths: Rule = (file) =>
  [...file.text.matchAll(MACHINE_PATH)].map((match) =>
    complaint(
      file,
      match.index,
      `a path of some machine: ${file.text.slice(match.index, match.index + 24).split('\n')[0]}`,
    ),
  );

export const registryHosts: Rule = (file) => {
  if (!/(^|\/)package-lock\.json$/.test(file.path)) return [];
  return [...file.text.matchAll(/"resolved": "https?:[^"]*"/g)].map((match) =>
    complaint(file, match.index, 'a registry host: the lock file names packages, versions and hashes only'),
  );
};

/** In comments the agent, the session, the process or the caller is named. */
const PRONOUNS = /\b(?:whoever|whomever|somebody|nobody|anybody|everybody|who has)\b/i;

/** Plain comments of code: what stands in strings is said to people. */
export const namedSubjects: Rule = (file) => {
  if (!isCode(file) || file.path.startsWith('test/tidy/')) return [];
  const source = parse(file);
  const found = new Map<number, string>();
  const look = (ranges: readonly ts.CommentRange[] | undefined) => {
    for (const { pos, end } of ranges ?? []) {
      const text = file.text.slice(pos, end);
      if (PRONOUNS.test(text))
        found.set(pos, complaint(file, pos, `a comment without its subject: ${text.slice(0, 80)}`));
    }
  };
  visit(source, (node) => {
    look(ts.getLeadingCommentRanges(file.text, node.getFullStart()));
    look(ts.getTrailingCommentRanges(file.text, node.getEnd()));
  });
  return [...found.values()];
};
