import { readFileSync } from 'node:fs';
import ts from 'typescript';

const SKIPPED = ['skip', 'todo', 'fails'];

/**
 * The names of the tests in a file, as they stand in its source: those of `each` with their placeholders. A test within
 * a `describe` has two, `name` and `description › name`. What is skipped proves nothing and is left out.
 */
export function testNames(file: string): Set<string> {
  const names = new Set<string>();
  const visit = (node: ts.Node, description: string | null): void => {
    const found = ts.isCallExpression(node) ? namedCall(node) : null;
    if (found?.skipped) return;
    if (found?.runner === 'it' || found?.runner === 'test') {
      names.add(found.name);
      if (description !== null) names.add(`${description} › ${found.name}`);
    }
    const inner = found?.runner === 'describe' ? found.name : description;
    ts.forEachChild(node, (child) => visit(child, inner));
  };
  visit(ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest), null);
  return names;
}

/** Reads `it('…')` and `test.each(…)('…')`, with modifiers; null for a call without a name. */
function namedCall(call: ts.CallExpression): { runner: string; name: string; skipped: boolean } | null {
  const [name] = call.arguments;
  if (name === undefined || !ts.isStringLiteralLike(name)) return null;
  let callee: ts.Expression = call.expression;
  let skipped = false;
  for (;;) {
    if (ts.isIdentifier(callee)) return { runner: callee.text, name: name.text, skipped };
    if (ts.isCallExpression(callee)) callee = callee.expression;
    else if (ts.isTaggedTemplateExpression(callee)) callee = callee.tag;
    else if (ts.isPropertyAccessExpression(callee)) {
      skipped ||= isTestRunner(callee.expression) && SKIPPED.includes(callee.name.text);
      callee = callee.expression;
    } else return null;
  }
}

function isTestRunner(callee: ts.Expression): boolean {
  return ts.isIdentifier(callee) && ['it', 'test', 'describe'].includes(callee.text);
}
