import type { JsonSchema, OpenApi, Operation, Parameter, Response } from '../../openapi/schemas.ts';
import { html, type Html } from '../html.ts';
import { prose } from './prose.ts';
import { resolved, rulesText, sampleText, typeText } from './schema.ts';

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

/** Fields of an object, of an array's objects or of alternatives; null if there are none. */
export function fieldList(schema: JsonSchema): Html | null {
  if (schema.properties !== undefined) {
    const { properties, required = [] } = schema;
    return html`<dl>
      ${Object.entries(properties).map(([name, field]) =>
        fieldEntry(name, field, required.includes(name) ? 'required' : 'optional'),
      )}
    </dl>`;
  }
  const inner = innerSchemas(schema)
    .map(fieldList)
    .filter((list) => list !== null)
    // An object and an array of it have the same fields.
    .filter(({ markup }, i, all) => all.findIndex((other) => other.markup === markup) === i);
  return inner.length === 0 ? null : html`${inner}`;
}

function fieldEntry(name: string, field: JsonSchema, about: string): Html {
  const rules = rulesText(field);
  return html`<dt><code>${name}</code> <span class="type">${typeText(field)}, ${about}</span></dt>
    <dd>
      ${prose(field.description ?? '')}${rules === '' ? null : html`<p class="rules">${rules}</p>`}${fieldList(field)}
    </dd>`;
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
export function operationSection(document: OpenApi, shown: Shown): Html {
  const { path, method, operation } = shown;
  const { operationId: id, parameters = [], requestBody, responses } = operation;
  const answers = Object.entries(responses).map(([status, response]) => ({
    status,
    response: responseOf(document, response),
  }));
  const body = requestBody?.content['application/json'];
  return html`<section class="operation">
    <h3 id="${id}">${operation.summary.replace(/\.$/, '')}</h3>
    <p class="address"><span class="method ${method}">${method.toUpperCase()}</span> <code>${path}</code></p>
    ${prose(operation.description ?? '')} ${scopeOf(operation)}
    ${
      parameters.length === 0
        ? null
        : html`<h4>Parameters</h4>
            <dl>${parameters.map((parameter) => parameterEntry(parameter))}</dl>`
    }
    ${
      requestBody === undefined
        ? null
        : html`<h4>Body</h4>
            <p>
              ${Object.keys(requestBody.content).map((type, i) => html`${i === 0 ? '' : ' or '}<code>${type}</code>`)}${body === undefined ? null : html`: ${typeText(body.schema)}`}
            </p>
            ${body === undefined ? null : fieldList(resolved(document, body.schema))}`
    }
    <h4>Example</h4>
    <pre><code>${curl(shown)}</code></pre>
    <h4>Answers</h4>
    <dl>
      ${answers
        .filter(({ status }) => Number(status) < 400 || status === '503')
        .map(({ status, response }) => answerEntry(document, status, response))}
    </dl>
    <details>
      <summary>
        Errors<span class="visually-hidden"> of ${operation.summary.replace(/\.$/, '')}</span>
      </summary>
      <dl>
        ${answers
          .filter(({ status }) => Number(status) >= 400 && status !== '503')
          .map(
            ({ status, response }) =>
              html`<dt><code>${status}</code></dt>
                <dd>${prose(response.description ?? '')}</dd>`,
          )}
      </dl>
    </details>
  </section>`;
}

/** The section of a webhook. */
export function webhookSection(document: OpenApi, { path, operation }: Shown): Html {
  const { operationId: id, parameters = [], requestBody } = operation;
  const schema = requestBody!.content['application/json']!.schema;
  return html`<section class="operation">
    <h3 id="${id}"><code>${path}</code></h3>
    ${prose(operation.summary)}
    <h4>Headers</h4>
    <dl>${parameters.map((parameter) => parameterEntry(parameter))}</dl>
    <h4>Body</h4>
    ${fieldList(resolved(document, schema))}
    <h4>Example</h4>
    <pre><code>${sampleText(document, schema)}</code></pre>
  </section>`;
}

function parameterEntry({ name, in: place, required = false, description, schema = {} }: Parameter): Html {
  const field = { ...schema, ...(description === undefined ? {} : { description }) };
  return fieldEntry(name, field, `${place}${required ? ', required' : ''}`);
}

function scopeOf({ security = [] }: Operation): Html {
  const scope = security[0]?.['apiKey']?.[0];
  return scope === undefined
    ? html`<p class="scope">No key needed.</p>`
    : html`<p class="scope">Scope: <code>${scope}</code></p>`;
}

function answerEntry(document: OpenApi, status: string, { description = '', content = {} }: Response): Html {
  const json = content['application/json']?.schema;
  const types = Object.keys(content);
  return html`<dt>
      <code>${status}</code> <span class="type">${json === undefined ? '' : typeText(json)}</span>
    </dt>
    <dd>
      ${prose(description)}
      ${types.length < 2 ? null : html`<p>As ${types.map((type, i) => html`${i === 0 ? '' : ' or '}<code>${type}</code>`)}.</p>`}
      ${
        json === undefined
          ? null
          : html`${fieldList(json)}
              <pre><code>${sampleText(document, json)}</code></pre>`
      }
    </dd>`;
}

function responseOf({ components }: OpenApi, response: Response): Response {
  if (response.$ref === undefined) return response;
  const { $ref, ...own } = response;
  return { ...components.responses[$ref.split('/').at(-1)!]!, ...own };
}
