import type { Connection } from '@temporalio/client';
import { errorText, StartProblem } from './problem.ts';

/** As named by Temporal's command line. */
type SearchAttributeKind = 'Keyword' | 'KeywordList' | 'Text' | 'Int' | 'Double' | 'Bool' | 'Datetime';

type SearchAttributes = Record<string, SearchAttributeKind>;

// temporal.api.enums.v1.IndexedValueType
const INDEXED_VALUE_TYPE: Record<SearchAttributeKind, number> = {
  Text: 1,
  Keyword: 2,
  Int: 3,
  Double: 4,
  Bool: 5,
  Datetime: 6,
  KeywordList: 7,
};

const KIND_OF_KEY: Record<string, SearchAttributeKind> = {
  TEXT: 'Text',
  KEYWORD: 'Keyword',
  INT: 'Int',
  DOUBLE: 'Double',
  BOOL: 'Bool',
  DATETIME: 'Datetime',
  KEYWORD_LIST: 'KeywordList',
};

/** Name and type of keys from `defineSearchAttributeKey`. */
export function searchAttributesOf(keys: Record<string, { name: string; type: string }>): SearchAttributes {
  return Object.fromEntries(
    Object.values(keys).map(({ name, type }) => [name, KIND_OF_KEY[type] ?? 'Keyword']),
  );
}

/** Adds missing attributes and returns their names; the server needs a moment. @throws StartProblem if it refuses, as a hosted one may */
export async function addSearchAttributes(
  connection: Connection,
  namespace: string,
  attributes: SearchAttributes,
): Promise<string[]> {
  const known = await connection.operatorService.listSearchAttributes({ namespace });
  const missing = Object.entries(attributes).filter(([name]) => known.customAttributes?.[name] === undefined);
  if (missing.length === 0) return [];
  const searchAttributes = Object.fromEntries(
    missing.map(([name, kind]) => [name, INDEXED_VALUE_TYPE[kind]]),
  );
  try {
    await connection.operatorService.addSearchAttributes({ namespace, searchAttributes });
  } catch (error) {
    const list = missing.map(([name, kind]) => `${name} (${kind})`).join(', ');
    throw new StartProblem(
      `Temporal's namespace "${namespace}" lacks search attributes and does not let this process add them (${errorText(error)}): create ${list} there.`,
    );
  }
  return missing.map(([name]) => name);
}
