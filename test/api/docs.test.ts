import { beforeAll, describe, expect, inject, it } from 'vitest';
import { endpoints } from '../../api/endpoints.ts';
import { describeInterface } from '../../api/openapi/document.ts';
import type { JsonSchema, Operation } from '../../api/openapi/schemas.ts';
import { type PageVisit, POLICY, visit } from '../support/pages.ts';

const document = describeInterface(endpoints);
const operations = [...Object.entries(document.paths), ...Object.entries(document.webhooks)].flatMap(
  ([path, item]) => Object.values(item).map((operation: Operation) => [path, operation] as const),
);
/** The fields that a schema lists itself, at any depth; what a reference leads to has its own place on the page. */
function fieldsOf({ $ref, properties, items, anyOf = [], oneOf = [] }: JsonSchema): string[] {
  if ($ref !== undefined) return [];
  if (properties !== undefined) {
    return Object.entries(properties).flatMap(([name, field]) => [name, ...fieldsOf(field)]);
  }
  return [...(items === undefined ? [] : [items]), ...anyOf, ...oneOf].flatMap(fieldsOf);
}

let page: PageVisit;
beforeAll(async () => {
  page = await visit(`${inject('service').apiUrl}/docs`);
});

describe('/docs', () => {
  it('is an English page that may be kept for a while', () => {
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.headers.get('cache-control')).toBe('public, max-age=300');
    expect(page.headers.get('x-request-id')).toMatch(/^req_/);
    expect(page.text).toContain('<html lang="en">');
  });

  it('has no script and loads nothing but style sheets of ours, and its policy would not let it', () => {
    expect(page.headers.get('content-security-policy')).toBe(POLICY);
    expect(page.text).not.toMatch(
      /<(script|style|img|iframe|object|embed|form)\b|\sstyle=|\son\w+=|\ssrc=(?!\\?&quot;)|url\(/i,
    );
    const targets = [...page.text.matchAll(/href="([^"]*)"/g)].map((match) => match[1]!);
    expect(targets.filter((target) => !target.startsWith('#'))).toEqual([
      expect.stringMatching(/^\/assets\/style\.[0-9a-f]{16}\.css$/),
      expect.stringMatching(/^\/assets\/docs\.[0-9a-f]{16}\.css$/),
      '/v1/openapi.json',
    ]);
  });

  it('has every heading once, and every link inside it leads somewhere', () => {
    const ids = [...page.text.matchAll(/\sid="([^"]*)"/g)].map((match) => match[1]!);
    expect(new Set(ids).size).toBe(ids.length);
    const targets = [...page.text.matchAll(/href="#([^"]*)"/g)].map((match) => match[1]!);
    expect(targets.filter((target) => !ids.includes(target))).toEqual([]);
    for (const [, { operationId }] of operations) expect(targets).toContain(operationId);
    for (const name of Object.keys(document.components.schemas)) expect(targets).toContain(`object-${name}`);
  });

  it.each(operations.map(([path, operation]) => [operation.operationId, path, operation] as const))(
    'shows all of %s',
    (id, path, operation) => {
      const from = page.text.indexOf(`<h3 id="${id}"`);
      const section = page.text.slice(from, page.text.indexOf('</section>', from)).replace(/>\s+</g, '><');
      expect(section).toContain(`<code>${path}</code>`);
      const names = [
        ...(operation.parameters ?? []).map(({ name }) => name),
        ...Object.keys(operation.requestBody?.content['application/json']?.schema.properties ?? {}),
        ...(path.startsWith('/') ? Object.keys(operation.responses) : []),
      ];
      for (const name of names) expect(section).toContain(`<dt><code>${name}</code>`);
      if (path.startsWith('/')) expect(section).toContain('curl -sS');
      expect(section).not.toMatch(/undefined|\[object Object\]|NaN/);
    },
  );

  it.each(Object.entries(document.components.schemas))(
    'shows every field of the object %s',
    (name, schema) => {
      const from = page.text.indexOf(`<h3 id="object-${name}"`);
      const section = page.text.slice(from, page.text.indexOf('</section>', from));
      const fields = fieldsOf(schema);
      expect(fields).not.toEqual([]);
      for (const field of fields) expect(section).toContain(`<dt><code>${field}</code>`);
    },
  );
});
