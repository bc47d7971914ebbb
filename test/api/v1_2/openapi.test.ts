import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, inject, it } from 'vitest';
import type { Endpoint } from '../../../api/http/endpoint.ts';
import { validate } from '../../../api/http/invoke.ts';
import { earlierDocument, earlierEndpoints } from '../../../api/v1_2/endpoints.ts';
import { visit } from '../../support/pages.ts';

const document = earlierDocument();
const nameOf = ({ method, path }: Endpoint) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`;
const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, operation })),
);

describe('the document of the earlier interface', () => {
  it('is valid OpenAPI 3.1, as an independent validator sees it', async () => {
    expect(await new Validator().validate({ ...structuredClone(document) })).toEqual({ valid: true });
  });

  it('is answered at a path of its own, without a token', async () => {
    const response = await fetch(`${inject('service').apiUrl}/v1/openapi-1.2.json`);
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual(JSON.parse(JSON.stringify(document)));
    expect(document.info.version).toBe('1.2.0');
  });

  it.each(['/v1/sms', '/v1/sms/bulk'])('says of %s what a part of a longer text holds', (path) => {
    const body = JSON.stringify(document.paths[path]!.post!.requestBody);
    for (const characters of [70, 67, 160, 153]) expect(body).toMatch(new RegExp(`\\b${characters}\\b`));
  });

  it('has every endpoint of it, and none of the other', () => {
    expect(operations.map(({ name }) => name).sort()).toEqual(earlierEndpoints.map(nameOf).sort());
  });

  it('has the errors that the earlier document names', () => {
    const statusesOf = (name: string) =>
      Object.keys(operations.find((one) => one.name === name)!.operation.responses);
    for (const path of ['/v1/sms', '/v1/sms/bulk', '/v1/mms', '/v1/vms'])
      expect(statusesOf(`POST ${path}`)).toEqual(
        expect.arrayContaining(['200', '401', '402', '422', '429', '502']),
      );
    expect(statusesOf('POST /v1/email')).toEqual(
      expect.arrayContaining(['200', '401', '402', '422', '429', '502', '503']),
    );
    expect(statusesOf('GET /v1/hlr')).toEqual(expect.arrayContaining(['200', '401', '422', '429', '502']));
    expect(statusesOf('GET /v1/balance')).toEqual(
      expect.arrayContaining(['200', '401', '403', '429', '502']),
    );
    for (const { operation } of operations) expect(Object.keys(operation.responses)).not.toContain('409');
  });

  it.each(operations)('$name has an example of its body that is taken', ({ name, operation }) => {
    const content = operation.requestBody?.content['application/json'];
    if (content === undefined) return;
    const declared = earlierEndpoints.find((one) => nameOf(one) === name)!;
    expect(() => validate(declared.body!, content.example)).not.toThrow();
  });

  it('has examples of errors that fit their schema', () => {
    const ajv = new Ajv2020({ strict: false });
    addFormats.default(ajv);
    const fits = ajv.compile(document.components.schemas['Error']!);
    for (const { content } of Object.values(document.components.responses))
      expect(fits(content!['application/json']!.example)).toBe(true);
  });

  it('has a page for people', async () => {
    const page = await visit(`${inject('service').apiUrl}/docs/1.2`);
    expect(page.status).toBe(200);
    for (const { operation } of operations) expect(page.text).toContain(`id="${operation.operationId}"`);
    expect(page.text).toContain('href="/v1/openapi-1.2.json"');
    expect(page.text).not.toMatch(/undefined|\[object Object\]|NaN/);
  });
});
