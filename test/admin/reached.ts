import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const PROJECT = fileURLToPath(new URL('../../', import.meta.url));

/** A module as its text says: what it declares at its top, and what it imports as values. */
interface Module {
  file: string;
  source: ts.SourceFile;
  declared: ReadonlyMap<string, ts.Node>;
  imported: ReadonlyMap<string, Reference>;
}

interface Reference {
  /** From the project's root: `operations/cancel.ts`. */
  file: string;
  /** `*` stands for all that the file exports. */
  name: string;
}

const modules = new Map<string, Module>();

/** All `.ts` files under a folder of the project. */
export function filesUnder(folder: string): string[] {
  return readdirSync(join(PROJECT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => join(folder, file))
    .sort();
}

/** The declarations in a file that are made by calling a function: `command({ … })`. */
export function callsOf(file: string, callee: string): ts.ObjectLiteralExpression[] {
  const found: ts.ObjectLiteralExpression[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === callee) {
      const [argument] = node.arguments;
      if (argument !== undefined && ts.isObjectLiteralExpression(argument)) found.push(argument);
    }
    ts.forEachChild(node, visit);
  };
  visit(moduleOf(file).source);
  return found;
}

/** What a property has that is there, and neither a string nor a constant of its file. */
export const NO_TEXT = '?';

/** A property of an object literal that is a string, or a constant of its file that is one; undefined where it is not there. */
export function textOf(file: string, object: ts.ObjectLiteralExpression, name: string): string | undefined {
  for (const property of object.properties) {
    if (!ts.isPropertyAssignment(property) || property.name.getText() !== name) continue;
    const { initializer: value } = property;
    const constant = ts.isIdentifier(value) ? moduleOf(file).declared.get(value.text) : undefined;
    const text = constant !== undefined && ts.isVariableDeclaration(constant) ? constant.initializer : value;
    return text !== undefined && ts.isStringLiteralLike(text) ? text.text : NO_TEXT;
  }
  return undefined;
}

/**
 * What some code can call in other rooms (first folders of paths), by name: `operations/cancel.ts#cancel`. Functions of its own room
 * are followed; types are nothing that is called.
 * @param followed rooms whose functions are followed as well
 */
export function reachedFrom(file: string, node: ts.Node, followed: readonly string[] = []): Set<string> {
  const reached = new Set<string>();
  const seen = new Set<ts.Node>();
  const room = roomOf(file);
  const follow = ({ file: target, name }: Reference): void => {
    if (roomOf(target) !== room) reached.add(`${target}#${name}`);
    if (roomOf(target) === room || followed.includes(roomOf(target))) visitDeclaration(target, name);
  };
  // What one function of a room reaches through another of its file counts as reached too.
  const visitOwn = (target: string, name: string): void => {
    if (moduleOf(target).declared.has(name)) follow({ file: target, name });
  };
  const visitDeclaration = (target: string, name: string): void => {
    const declaration = moduleOf(target).declared.get(name);
    if (declaration !== undefined) visit(target, declaration);
  };
  const visit = (within: string, at: ts.Node): void => {
    if (seen.has(at) || ts.isTypeNode(at)) return;
    seen.add(at);
    if (ts.isVariableDeclaration(at)) lateImports(within, at).forEach(follow);
    if (ts.isIdentifier(at) && !isName(at)) {
      const reference = moduleOf(within).imported.get(at.text);
      if (reference === undefined) visitOwn(within, at.text);
      else follow(reference.name === '*' ? { ...reference, name: memberOf(at) } : reference);
    }
    ts.forEachChild(at, (child) => visit(within, child));
  };
  visit(file, node);
  return reached;
}

function roomOf(file: string): string {
  return file.slice(0, file.indexOf('/'));
}

function moduleOf(file: string): Module {
  const known = modules.get(file);
  if (known !== undefined) return known;
  const text = readFileSync(join(PROJECT, file), 'utf8');
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const module = { file, source, declared: declarationsOf(source), imported: importsOf(file, source) };
  modules.set(file, module);
  return module;
}

function declarationsOf(source: ts.SourceFile): Map<string, ts.Node> {
  const declared = new Map<string, ts.Node>();
  for (const statement of source.statements) {
    if (ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement)) {
      if (statement.name !== undefined) declared.set(statement.name.text, statement);
    } else if (ts.isVariableStatement(statement)) {
      for (const declaration of statement.declarationList.declarations) {
        if (ts.isIdentifier(declaration.name)) declared.set(declaration.name.text, declaration);
      }
    }
  }
  return declared;
}

function importsOf(file: string, source: ts.SourceFile): Map<string, Reference> {
  const imported = new Map<string, Reference>();
  for (const statement of source.statements) {
    if (!ts.isImportDeclaration(statement) || !ts.isStringLiteral(statement.moduleSpecifier)) continue;
    const target = fileOf(file, statement.moduleSpecifier.text);
    const { importClause: clause } = statement;
    if (target === null || clause === undefined || clause.phaseModifier === ts.SyntaxKind.TypeKeyword)
      continue;
    const named = clause.namedBindings;
    if (named === undefined) continue;
    if (ts.isNamespaceImport(named)) {
      imported.set(named.name.text, { file: target, name: '*' });
      continue;
    }
    for (const element of named.elements) {
      if (element.isTypeOnly) continue;
      imported.set(element.name.text, { file: target, name: (element.propertyName ?? element.name).text });
    }
  }
  return imported;
}

/** `const { a, b: c } = await import('…')` */
function lateImports(file: string, { name, initializer }: ts.VariableDeclaration): Reference[] {
  if (initializer === undefined || !ts.isAwaitExpression(initializer)) return [];
  const call = initializer.expression;
  if (!ts.isCallExpression(call) || call.expression.kind !== ts.SyntaxKind.ImportKeyword) return [];
  const [specifier] = call.arguments;
  const target =
    specifier !== undefined && ts.isStringLiteral(specifier) ? fileOf(file, specifier.text) : null;
  if (target === null || !ts.isObjectBindingPattern(name)) return [];
  return name.elements.map((element) => ({
    file: target,
    name: (element.propertyName ?? element.name).getText(),
  }));
}

function fileOf(from: string, specifier: string): string | null {
  return specifier.startsWith('.') ? normalize(join(dirname(from), specifier)) : null;
}

/** `changeContact` of `contacts.changeContact`, where `contacts` is all of a file. */
function memberOf({ parent }: ts.Identifier): string {
  return ts.isPropertyAccessExpression(parent) ? parent.name.text : '*';
}

/** Whether an identifier only names a property, and refers to nothing. */
function isName(at: ts.Identifier): boolean {
  const { parent } = at;
  if (ts.isPropertyAccessExpression(parent)) return parent.name === at;
  if (ts.isBindingElement(parent)) return parent.propertyName === at || parent.name === at;
  if (ts.isParameter(parent)) return parent.name === at;
  return ts.isPropertyAssignment(parent) || ts.isMethodDeclaration(parent) ? parent.name === at : false;
}
