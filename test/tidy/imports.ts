import { posix } from 'node:path';
import ts from 'typescript';
import { parse, type SourceText, visit } from './files.ts';

export interface Import {
  readonly from: string;
  readonly to: string;
  /** Loaded when the line is reached, so that the rest of the target's folder is not loaded for it. */
  readonly isDynamic: boolean;
  /** Erased with the types: it loads nothing. */
  readonly isType: boolean;
}

function isErased(clause: ts.ImportClause | undefined): boolean {
  if (clause === undefined) return false;
  if (clause.phaseModifier === ts.SyntaxKind.TypeKeyword) return true;
  const named = clause.namedBindings;
  return (
    clause.name === undefined &&
    named !== undefined &&
    ts.isNamedImports(named) &&
    named.elements.length > 0 &&
    named.elements.every(({ isTypeOnly }) => isTypeOnly)
  );
}

/** The relative imports and re-exports of one source. */
function importsOf(file: SourceText): Import[] {
  const found: Import[] = [];
  const add = (target: ts.Node | undefined, isDynamic: boolean, isType: boolean) => {
    if (target === undefined || !ts.isStringLiteral(target) || !target.text.startsWith('.')) return;
    found.push({
      from: file.path,
      to: posix.join(posix.dirname(file.path), target.text),
      isDynamic,
      isType,
    });
  };
  visit(parse(file), (node) => {
    if (ts.isImportDeclaration(node)) add(node.moduleSpecifier, false, isErased(node.importClause));
    else if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, false, node.isTypeOnly);
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
      add(node.arguments[0], true, false);
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument))
      add(node.argument.literal, false, true);
  });
  return found;
}

export function importsIn(files: readonly SourceText[]): Import[] {
  return files.filter(({ path }) => /^src\/.*\.ts$/.test(path)).flatMap(importsOf);
}
