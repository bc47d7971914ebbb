import { z } from 'zod';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { describeInterface, type Description } from './document.ts';
import type { OpenApi } from './types.ts';

const CACHE = { 'Cache-Control': 'public, max-age=300' };

/**
 * GET /v1/openapi.json: this interface as an OpenAPI 3.1 document, without a key.
 * @param endpoints all endpoints, this one too; asked for at the first request
 */
export function openApiEndpoint(endpoints: () => readonly Endpoint[]): Endpoint {
  return endpoint({
    method: 'GET',
    path: '/v1/openapi.json',
    scope: null,
    id: 'getOpenApi',
    summary: 'Describes this interface in OpenAPI 3.1.',
    description: 'This document. Needs no key and is not counted.',
    responses: { 200: z.record(z.string(), z.unknown()) },
    handle: () => Promise.resolve(answerWith(describedOnce(endpoints()))),
  });
}

/** A document as an answer that may be kept for a while. */
export function answerWith(document: OpenApi) {
  return { status: 200 as const, body: { ...document }, headers: CACHE };
}

const described = new WeakMap<readonly Endpoint[], OpenApi>();

/** The document of the endpoints; made once in the life of a process. @param of the interface; the current one by default */
export function describedOnce(endpoints: readonly Endpoint[], of?: Description): OpenApi {
  const known = described.get(endpoints) ?? describeInterface(endpoints, of);
  described.set(endpoints, known);
  return known;
}
