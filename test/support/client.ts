import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { contractBreach } from './contract.ts';
import { eventually } from './eventually.ts';

/** An answer of the API. */
export interface ApiAnswer {
  status: number;
  headers: Headers;
  /** The JSON body; empty object when there is none. */
  body: AnswerBody;
  text: string;
}

/** Every field that some answer has: a test that looks at one which is not there fails. */
export interface AnswerBody {
  id: string;
  name: string;
  status: string;
  to: string;
  from: string | null;
  text: string;
  parts: number;
  cost_grosze: number;
  send_at: string;
  expires_at: string;
  created_at: string;
  updated_at: string;
  count: number;
  accepted: number;
  total_cost_grosze: number;
  messages: AnswerBody[];
  data: AnswerBody[];
  next_cursor: string | null;
  msisdn: string;
  first_name: string | null;
  last_name: string | null;
  email: string | null;
  fields: Record<string, string>;
  groups: { id: string; name: string }[];
  created: number;
  updated: number;
  members: number;
  added: number;
  invalid: unknown[];
  removed: string;
  reason: string | null;
  error: { code: string; message: string; param?: string };
  request_id: string;
  webhook_url: string | null;
  webhook_secret: string;
  reply_to: string | null;
  matched_by: string;
  received_at: string;
  read_at: string | null;
  inbound_number: string | null;
  prefix: string | null;
  token: string;
  short_url: string;
  message_id: string | null;
  clicks: number;
  first_click_at: string | null;
  last_click_at: string | null;
  links: AnswerBody[];
  totals: { links: number; clicked: number; clicks: number };
  click_log: { clicked_at: string; user_agent: string | null; robot: boolean }[];
}

/** A caller of the API with one key. */
export interface ApiClient {
  get(path: string, headers?: Record<string, string>): Promise<ApiAnswer>;
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<ApiAnswer>;
  put(path: string, body: unknown): Promise<ApiAnswer>;
  patch(path: string, body: unknown): Promise<ApiAnswer>;
  delete(path: string): Promise<ApiAnswer>;
  send(body: unknown, idempotencyKey?: string): Promise<ApiAnswer>;
  /** Sends as a careful customer does: with a key, and again until it is decided; a slow machine may need more than its ten seconds. */
  sendOnce(body: unknown, idempotencyKey?: string): Promise<ApiAnswer>;
  /** The same, of what a test only begins with. */
  accepted(body: unknown): Promise<AnswerBody>;
}

/**
 * Calls a URL and checks what holds for every answer of the API: it is what the OpenAPI document declares for it, with
 * a request id in the header, and errors have the envelope with the same id and a Polish sentence.
 */
export async function call(url: string, init: RequestInit = {}): Promise<ApiAnswer> {
  const response = await fetch(url, { redirect: 'manual', ...init });
  const text = await response.text();
  const id = response.headers.get('x-request-id');
  expect(id).toMatch(/^req_[0-9a-z]{26}$/);
  const { status, headers } = response;
  // One slash at the end is no other address.
  const path = new URL(url).pathname.replace(/\/$/, '');
  expect(contractBreach({ method: init.method ?? 'GET', path, status, headers, text })).toBeNull();
  const isJson = headers.get('content-type')?.startsWith('application/json') === true;
  const body = (isJson && text !== '' ? JSON.parse(text) : {}) as AnswerBody;
  if (response.status >= 400 && response.status !== 503 && text !== '') {
    expect(body).toEqual({
      error: {
        code: expect.stringMatching(/^[a-z_]+$/) as string,
        message: expect.stringMatching(/\S.*\.$/s) as string,
        ...('param' in body.error ? { param: expect.any(String) as string } : {}),
      },
      request_id: id,
    });
  }
  return { status: response.status, headers: response.headers, body, text };
}

/** A client with a key, or without. */
export function apiClient(baseUrl: string, key?: string): ApiClient {
  const authorization: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const without =
    (method: string) =>
    (path: string, headers: Record<string, string> = {}) =>
      call(baseUrl + path, { method, headers: { ...authorization, ...headers } });
  const withBody =
    (method: string) =>
    (path: string, body: unknown, headers: Record<string, string> = {}) =>
      call(baseUrl + path, {
        method,
        headers: { ...authorization, 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      });
  const post = withBody('POST');
  const send = (body: unknown, key?: string) =>
    post('/v1/messages', body, key === undefined ? {} : { 'idempotency-key': key });
  const sendOnce = (body: unknown, key: string = randomUUID()) =>
    eventually(
      () => send(body, key),
      ({ status }) => status !== 504 && status !== 409,
    );
  return {
    async accepted(body) {
      const answer = await sendOnce(body);
      expect(answer).toMatchObject({ status: 201 });
      return answer.body;
    },
    get: without('GET'),
    delete: without('DELETE'),
    post,
    put: withBody('PUT'),
    patch: withBody('PATCH'),
    send,
    sendOnce,
  };
}
