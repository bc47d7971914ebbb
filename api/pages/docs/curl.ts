import type { Operation } from '../../openapi/types.ts';

/** An operation and where it is. */
export interface Shown {
  path: string;
  method: string;
  operation: Operation;
}

/** The operation called with curl: its required parameters, and a body that is taken. */
export function curl({ path, method, operation }: Shown): string {
  const { parameters = [], requestBody, security = [] } = operation;
  const address = parameters
    .filter((parameter) => parameter.in === 'path')
    .reduce((url, { name, schema }) => url.replace(`{${name}}`, textOf(schema?.examples?.[0] ?? name)), path);
  const query = parameters
    .filter((parameter) => parameter.in === 'query' && parameter.required)
    .map(({ name, schema }) => `${name}=${encodeURIComponent(textOf(schema?.examples?.[0] ?? ''))}`)
    .join('&');
  const example = requestBody?.content['application/json']?.example;
  return [
    `curl -sS ${method === 'get' || (method === 'post' && example !== undefined) ? '' : `-X ${method.toUpperCase()} `}"$BASE${address}${query === '' ? '' : `?${query}`}"`,
    ...(security.length === 0 ? [] : ['-H "Authorization: Bearer $KEY"']),
    ...(example === undefined
      ? []
      : ["-H 'Content-Type: application/json'", `-d '${JSON.stringify(example).replaceAll("'", "'\\''")}'`]),
  ].join(' \\\n  ');
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
