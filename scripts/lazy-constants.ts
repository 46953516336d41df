/**
 * Turns the tables and expressions that a source file keeps to itself into ones that are made at their first use. In the
 * sources they are plain constants; a hook, which lives for a few milliseconds, would make many of them and look at few.
 */
import ts from 'typescript';

/** What is shorter is made as quickly as it is asked for. */
const CHARACTERS_MIN = 60;

interface Edit {
  readonly at: number;
  readonly end: number;
  readonly text: string;
}

type Constant = ts.VariableDeclaration & {
  readonly name: ts.Identifier;
  readonly initializer: ts.Expression;
};

export function withLazyConstants(text: string): string {
  const source = ts.createSourceFile('source.ts', text, ts.ScriptTarget.Latest, true);
  const constants = new Map(constantsOf(source).map((constant) => [constant.name.text, constant]));
  if (constants.size === 0) return text;
  const edits: Edit[] = [];
  const visit = (node: ts.Node): void => {
    const isPassedOn = ts.isExportDeclaration(node) && node.moduleSpecifier !== undefined;
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || isPassedOn) return;
    if (ts.isIdentifier(node) && constants.has(node.text)) {
      const constant = constants.get(node.text);
      if (node === constant?.name) edits.push(...declared(constant, source));
      else if (isUse(node)) edits.push({ at: node.end, end: node.end, text: '()' });
    }
    ts.forEachChild(node, visit);
  };
  ts.forEachChild(source, visit);
  return applied(text, edits);
}

function constantsOf(source: ts.SourceFile): Constant[] {
  return source.statements.filter(ts.isVariableStatement).flatMap((statement) => {
    const { declarations, flags } = statement.declarationList;
    const [only] = declarations;
    const isPrivate = statement.modifiers === undefined && (flags & ts.NodeFlags.Const) !== 0;
    if (!isPrivate || declarations.length > 1 || only?.initializer === undefined) return [];
    const isTable = isMade(only.initializer) && only.initializer.getText(source).length >= CHARACTERS_MIN;
    return isTable && ts.isIdentifier(only.name) ? [only as Constant] : [];
  });
}

function isMade(value: ts.Expression): boolean {
  if (ts.isAsExpression(value) || ts.isSatisfiesExpression(value)) return isMade(value.expression);
  return (
    ts.isObjectLiteralExpression(value) ||
    ts.isArrayLiteralExpression(value) ||
    ts.isRegularExpressionLiteral(value) ||
    ts.isNewExpression(value)
  );
}

function declared({ parent, name, initializer }: Constant, source: ts.SourceFile): Edit[] {
  const made = `made_${name.text}`;
  const head = `let ${made}; const ${name.text} = () => ${made} ??= (`;
  return [
    { at: parent.getStart(source), end: initializer.getStart(source), text: head },
    { at: initializer.end, end: initializer.end, text: ')' },
  ];
}

/** A member of that name is something else; what would need more than a call behind it fails the build. */
function isUse(node: ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node;
  if (ts.isPropertyAssignment(parent)) return parent.initializer === node;
  const isDeclared = 'name' in parent && parent.name === node;
  if (isDeclared || ts.isExportSpecifier(parent))
    throw new Error(`${node.text} is a constant of the file, and the name of something else in it`);
  return true;
}

function applied(text: string, edits: readonly Edit[]): string {
  let changed = text;
  for (const { at, end, text: put } of [...edits].sort((a, b) => b.at - a.at || b.end - a.end))
    changed = changed.slice(0, at) + put + changed.slice(end);
  return changed;
}
