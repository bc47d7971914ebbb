import type { VNode } from 'preact';
import type {
  JsonSchema,
  MediaType,
  OpenApi,
  Operation,
  Parameter,
  Response,
} from '../../openapi/schemas.ts';
import { Prose } from './prose.tsx';
import { alternatives, resolved, rulesText, sampleText, TypeText } from './schema.tsx';

export interface Shown {
  path: string;
  method: string;
  operation: Operation;
}

function curl({ path, method, operation }: Shown): string {
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

/** Fields of an object, of an array's objects or of alternatives, if there are any. */
export function FieldList({ schema }: { schema: JsonSchema }): VNode {
  return (
    <>
      {objectsIn(schema).map(({ properties = {}, required = [] }) => (
        <dl>
          {Object.entries(properties).map(([name, field]) => (
            <FieldEntry name={name} field={field} about={required.includes(name) ? 'required' : 'optional'} />
          ))}
        </dl>
      ))}
    </>
  );
}

function FieldEntry({ name, field, about }: { name: string; field: JsonSchema; about: string }): VNode {
  const rules = rulesText(field);
  return (
    <>
      <dt>
        <code>{name}</code>{' '}
        <span class="type">
          <TypeText of={field} />, {about}
        </span>
      </dt>
      <dd>
        <Prose text={field.description} />
        {rules === '' ? null : <p class="rules">{rules}</p>}
        <FieldList schema={field} />
      </dd>
    </>
  );
}

/** The schemas with fields: itself, or each different one of its items and alternatives. */
function objectsIn(schema: JsonSchema): JsonSchema[] {
  if (schema.properties !== undefined) return [schema];
  const all = innerSchemas(schema).flatMap(objectsIn);
  // An object and an array of it have the same fields.
  const keys = all.map(({ properties, required }) => JSON.stringify([properties, required]));
  return all.filter((_, i) => keys.indexOf(keys[i]!) === i);
}

// Referenced schemas have a section of their own.
function innerSchemas({
  $ref,
  items,
  additionalProperties,
  anyOf = [],
  oneOf = [],
}: JsonSchema): JsonSchema[] {
  if ($ref !== undefined) return [];
  return [items, additionalProperties, ...anyOf, ...oneOf].filter((inner) => typeof inner === 'object');
}

/** The section of an operation. */
export function OperationSection({ document, shown }: { document: OpenApi; shown: Shown }): VNode {
  const { path, method, operation } = shown;
  const { operationId, description, parameters = [], requestBody, responses } = operation;
  const answers = Object.entries(responses).map(([status, response]) => ({
    status,
    response: responseOf(document, response),
  }));
  const isError = ({ status }: { status: string }) => Number(status) >= 400 && status !== '503';
  return (
    <section class="operation">
      <h3 id={operationId}>{summaryOf(operation)}</h3>
      <p class="address">
        <span class={`method ${method}`}>{method.toUpperCase()}</span> <code>{path}</code>
      </p>
      <Prose text={description} />
      <Scope of={operation} />
      {parameters.length === 0 ? null : (
        <>
          <h4>Parameters</h4>
          <dl>
            {parameters.map((parameter) => (
              <ParameterEntry parameter={parameter} />
            ))}
          </dl>
        </>
      )}
      {requestBody === undefined ? null : <Body document={document} content={requestBody.content} />}
      <h4>Example</h4>
      <pre>
        <code>{curl(shown)}</code>
      </pre>
      <h4>Answers</h4>
      <dl>
        {answers
          .filter((answer) => !isError(answer))
          .map(({ status, response }) => (
            <AnswerEntry document={document} status={status} response={response} />
          ))}
      </dl>
      <details>
        <summary>
          Errors<span class="visually-hidden"> of {summaryOf(operation)}</span>
        </summary>
        <dl>
          {answers.filter(isError).map(({ status, response }) => (
            <>
              <dt>
                <code>{status}</code>
              </dt>
              <dd>
                <Prose text={response.description} />
              </dd>
            </>
          ))}
        </dl>
      </details>
    </section>
  );
}

/** The section of a webhook. */
export function WebhookSection({ document, shown }: { document: OpenApi; shown: Shown }): VNode {
  const { path, operation } = shown;
  const { operationId, parameters = [], requestBody } = operation;
  const schema = requestBody!.content['application/json']!.schema;
  return (
    <section class="operation">
      <h3 id={operationId}>
        <code>{path}</code>
      </h3>
      <Prose text={operation.summary} />
      <h4>Headers</h4>
      <dl>
        {parameters.map((parameter) => (
          <ParameterEntry parameter={parameter} />
        ))}
      </dl>
      <h4>Body</h4>
      <FieldList schema={resolved(document, schema)} />
      <h4>Example</h4>
      <pre>
        <code>{sampleText(document, schema)}</code>
      </pre>
    </section>
  );
}

export function summaryOf({ summary }: Operation): string {
  return summary.replace(/\.$/, '');
}

function ParameterEntry({ parameter }: { parameter: Parameter }): VNode {
  const { name, in: place, required = false, description, schema = {} } = parameter;
  const field = { ...schema, ...(description === undefined ? {} : { description }) };
  return <FieldEntry name={name} field={field} about={`${place}${required ? ', required' : ''}`} />;
}

function Body({ document, content }: { document: OpenApi; content: Record<string, MediaType> }): VNode {
  const json = content['application/json'];
  return (
    <>
      <h4>Body</h4>
      <p>
        <MediaTypes of={content} />
        {json === undefined ? null : (
          <>
            : <TypeText of={json.schema} />
          </>
        )}
      </p>
      {json === undefined ? null : <FieldList schema={resolved(document, json.schema)} />}
    </>
  );
}

function MediaTypes({ of: content }: { of: Record<string, MediaType> }): VNode {
  return alternatives(Object.keys(content).map((type) => <code>{type}</code>));
}

function Scope({ of: { security = [] } }: { of: Operation }): VNode {
  const scope = security[0]?.['apiKey']?.[0];
  if (scope === undefined) return <p class="scope">No key needed.</p>;
  return (
    <p class="scope">
      Scope: <code>{scope}</code>
    </p>
  );
}

interface Answered {
  document: OpenApi;
  status: string;
  response: Response;
}

function AnswerEntry({ document, status, response }: Answered): VNode {
  const { description, content = {} } = response;
  const json = content['application/json']?.schema;
  return (
    <>
      <dt>
        <code>{status}</code> <span class="type">{json === undefined ? null : <TypeText of={json} />}</span>
      </dt>
      <dd>
        <Prose text={description} />
        {Object.keys(content).length < 2 ? null : (
          <p>
            As <MediaTypes of={content} />.
          </p>
        )}
        {json === undefined ? null : (
          <>
            <FieldList schema={json} />
            <pre>
              <code>{sampleText(document, json)}</code>
            </pre>
          </>
        )}
      </dd>
    </>
  );
}

function responseOf({ components }: OpenApi, response: Response): Response {
  if (response.$ref === undefined) return response;
  const { $ref, ...own } = response;
  return { ...components.responses[$ref.split('/').at(-1)!]!, ...own };
}
