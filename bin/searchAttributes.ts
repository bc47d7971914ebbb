import type { Connection } from '@temporalio/client';
import { SEARCH_ATTRIBUTES } from '../workflows/contracts.ts';
import { errorText } from '../domain/errors.ts';
import { StartProblem } from './problem.ts';

// By Temporal's command line, and by number in temporal.api.enums.v1.IndexedValueType.
const TYPES = { KEYWORD: ['Keyword', 2], DATETIME: ['Datetime', 6] } as const;

/** The search attributes of the service, with their types. */
export const searchAttributes = Object.values(SEARCH_ATTRIBUTES).map(({ name, type }) => {
  const [typeName, indexedType] = TYPES[type];
  return { name, typeName, indexedType };
});

/** Adds missing attributes and returns their names; the server needs a moment. @throws StartProblem if it refuses, as a hosted one may */
export async function addSearchAttributes(connection: Connection, namespace: string): Promise<string[]> {
  const known = await connection.operatorService.listSearchAttributes({ namespace });
  const missing = searchAttributes.filter(({ name }) => known.customAttributes?.[name] === undefined);
  if (missing.length === 0) return [];
  const types = missing.map(({ name, indexedType }) => [name, indexedType]);
  try {
    await connection.operatorService.addSearchAttributes({
      namespace,
      searchAttributes: Object.fromEntries(types) as Record<string, number>,
    });
  } catch (error) {
    const list = missing.map(({ name, typeName }) => `${name} (${typeName})`).join(', ');
    throw new StartProblem(
      `Temporal's namespace "${namespace}" lacks search attributes and does not let this process add them (${errorText(error)}): create ${list} there.`,
    );
  }
  return missing.map(({ name }) => name);
}
