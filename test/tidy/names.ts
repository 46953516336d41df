import ts from 'typescript';
import { parse, type SourceText } from './files.ts';

/** The rooms of a slice, and of a store: everywhere else a file name says which file is meant. */
const ROOMS =
  /^(?:index|state|operations|schemas|files|cli|commands|entities|store|audit-trail|watch|failures|notes)\.ts$/;

function isSource({ path }: SourceText): boolean {
  return /^src\/.*\.ts$/.test(path);
}

/** File names that two files of src share, with both places. */
export function sharedFileNames(files: readonly SourceText[]): string[] {
  const places = new Map<string, string[]>();
  for (const { path } of files.filter(isSource)) {
    const name = path.slice(path.lastIndexOf('/') + 1);
    if (!ROOMS.test(name)) places.set(name, [...(places.get(name) ?? []), path]);
  }
  return [...places.values()].filter((paths) => paths.length > 1).map((paths) => paths.join(' and '));
}

function isExported(statement: ts.Statement): boolean {
  const modifiers = ts.canHaveModifiers(statement) ? ts.getModifiers(statement) : undefined;
  return modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true;
}

function namesOf(statement: ts.Statement): string[] {
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.flatMap(({ name }) =>
      ts.isIdentifier(name) ? [name.text] : [],
    );
  const { name } = statement as { name?: ts.Node };
  return name !== undefined && ts.isIdentifier(name) ? [name.text] : [];
}

/** Names that two slices declare and export, each for something of its own. */
export function namesOfTwoSlices(files: readonly SourceText[]): string[] {
  const slices = new Map<string, Set<string>>();
  for (const file of files.filter(isSource)) {
    const slice = /^src\/features\/([\w-]+)\//.exec(file.path)?.[1];
    if (slice === undefined) continue;
    for (const name of parse(file).statements.filter(isExported).flatMap(namesOf))
      slices.set(name, (slices.get(name) ?? new Set()).add(slice));
  }
  return [...slices]
    .filter(([, declaring]) => declaring.size > 1)
    .map(([name, declaring]) => `${name} in ${[...declaring].sort().join(' and ')}`);
}
