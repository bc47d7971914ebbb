import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { parseRetryAfterMs } from '../../providers/resend/answers.ts';
import { resend as kind } from '../../providers/resend/kind.ts';
import { stopClock } from '../support/stopClock.ts';
import { email, file, openClient, openResend, working } from './resendClient.ts';
import { answers, garbage, half, instead, refuses, silent, slow, taken } from './resendMischiefs.ts';
import type { Mischief } from './resendServer.ts';
import { until } from './until.ts';

describe('an answer of Resend’s', () => {
  const unanswered = (code: string) => ({ kind: 'unanswered', code });
  const refused = (reason: string, code: string) => ({ kind: 'refused', reason, code });
  const cases: [string, Mischief, object][] = [
    ['500', answers(500, 'internal_server_error'), unanswered('internal_server_error')],
    ['a reset after it was taken', taken, { kind: 'unanswered' }],
    ['half an answer', half, { kind: 'unanswered' }],
    ['garbage', garbage, unanswered('not_understood')],
    ['an id with a line break', instead(200, '{"id":"a\\nb"}'), unanswered('not_understood')],
    ['an id of a mile', instead(200, `{"id":"${'a'.repeat(101)}"}`), unanswered('not_understood')],
    ['megabytes', instead(200, `{"id":"1","x":"${'a'.repeat(3_000_000)}"}`), unanswered('not_understood')],
    ['deep nesting', instead(200, '['.repeat(100_000)), unanswered('not_understood')],
    [
      'too many requests',
      refuses(429, 'rate_limit_exceeded', undefined, { 'retry-after': '7' }),
      { kind: 'throttled', retryAfterMs: 7_000, code: 'rate_limit_exceeded' },
    ],
    [
      'too many requests, by the usual headers',
      refuses(429, 'rate_limit_exceeded', undefined, { 'ratelimit-reset': '3' }),
      { kind: 'throttled', retryAfterMs: 3_000, code: 'rate_limit_exceeded' },
    ],
    [
      'too many requests, for a year',
      refuses(429, 'rate_limit_exceeded', undefined, { 'retry-after': '99999999' }),
      { kind: 'throttled', retryAfterMs: 300_000, code: 'rate_limit_exceeded' },
    ],
    [
      '429 of a proxy',
      instead(429, 'slow down', { 'retry-after': 'x' }),
      { kind: 'throttled', retryAfterMs: 1_000, code: 'http_429' },
    ],
    [
      'the same key at once',
      refuses(409, 'concurrent_idempotent_requests'),
      { kind: 'later', retryAfterMs: 1_500, code: 'concurrent_idempotent_requests' },
    ],
    ['another conflict', instead(409, ''), unanswered('http_409')],
    ['a wrong key', refuses(403, 'invalid_api_key'), { kind: 'broken', code: 'invalid_api_key' }],
    [
      'a revoked key',
      refuses(400, 'validation_error', 'API key is invalid'),
      { kind: 'broken', code: 'invalid_api_key' },
    ],
    [
      'a key that may not send from a domain',
      refuses(403, 'validation_error', 'This API key is not authorized to send emails from sklep.example'),
      refused('sender_refused', 'validation_error'),
    ],
    [
      'a field that speaks of a key',
      refuses(422, 'validation_error', 'Invalid `subject` field: api key'),
      { ...refused('content_refused', 'validation_error'), always: true },
    ],
    ['403 of a proxy', instead(403, 'error code: 1010'), { kind: 'broken', code: 'http_403' }],
    ['no such endpoint', refuses(404, 'not_found'), { kind: 'broken', code: 'not_found' }],
    [
      'a redirect',
      instead(302, '', { location: 'https://evil.example' }),
      { kind: 'broken', code: 'http_302' },
    ],
    ['a key of another form', refuses(400, 'invalid_idempotency_key'), { kind: 'broken' }],
    ['a sender', refuses(422, 'invalid_from_address'), refused('sender_refused', 'invalid_from_address')],
    [
      'a sender, in words',
      refuses(422, 'validation_error', 'Invalid `from` field.'),
      refused('sender_refused', 'validation_error'),
    ],
    [
      'a recipient',
      refuses(422, 'validation_error', 'Invalid `to` field. The email address jan is wrong'),
      refused('recipients_refused', 'validation_error'),
    ],
    ['a file', refuses(422, 'invalid_attachment'), refused('content_refused', 'invalid_attachment')],
    [
      'a field',
      refuses(400, 'validation_error', 'Invalid tags'),
      refused('content_refused', 'validation_error'),
    ],
    ['too much', instead(413, ''), refused('content_refused', 'http_413')],
    ['a fear', refuses(451, 'security_error'), refused('provider_refused', 'security_error')],
    ['an error that nobody knows', refuses(422, 'brand_new'), refused('provider_refused', 'brand_new')],
  ];
  it.each(cases)('%s', async (_, mischief, expected) => {
    const { resend, submit, client, errors } = await openClient();
    resend.next(mischief);
    const given = email();
    expect(await submit(given)).toMatchObject(expected);
    expect(errors).toEqual([]);
    expect(client.state().inFlight).toBe(0);
    expect(await submit(given)).toMatchObject({ kind: 'accepted' });
    expect(resend.sent).toHaveLength(1);
  });

  it.each([
    ['silence', silent],
    ['a body without end', slow],
  ])('that is %s leaves the e-mail unanswered, and its repetition settles it', async (_, mischief) => {
    const clock = stopClock();
    const { resend, submit } = await openClient();
    resend.next(mischief);
    const given = email();
    const submitted = submit(given);
    await until(() => resend.sent.length === 1);
    await clock.pass(60_000);
    expect(await submitted).toEqual(unanswered('timed_out'));
    expect(await submit(given)).toEqual({ kind: 'accepted', providerEmailId: resend.sent[0]!.id });
    expect(resend.sent).toHaveLength(1);
  });

  it.each([
    ['a field of it', 422, 'validation_error', 'Invalid `to` field. The email address jan is wrong', true],
    ['a field that is not there', 422, 'missing_required_field', 'Missing fields', true],
    ['nobody knows what', 400, 'validation_error', 'Something about this team', false],
    ['the sender', 422, 'validation_error', 'Invalid `from` field.', false],
  ])(
    'that refuses an e-mail for %s (%i) may hold for each try of it',
    async (_what, status, name, message, always) => {
      const { resend, submit } = await openClient();
      resend.next(refuses(status, name, message));
      const answer = await submit(email());
      expect(answer.kind).toBe('refused');
      expect('always' in answer).toBe(always);
    },
  );

  it('about a domain that is not verified refuses the sender', async () => {
    const { submit, client } = await openClient();
    const stranger = email({ from: { address: 'a@obcy.example', name: null } });
    expect(await submit(stranger)).toEqual(refused('sender_refused', 'validation_error'));
    expect(client.state().failures).toBe(0);
  });

  it('that another body was taken under the key leaves it unanswered, and staff are notified', async () => {
    const { resend, submit, client, errors } = await openClient();
    const given = email();
    await submit(given);
    expect(await submit({ ...given, subject: 'Inny' })).toEqual({
      ...unanswered('invalid_idempotent_request'),
      final: true,
    });
    expect(errors.map(String)).toEqual([`Error: ${given.id}: taken by the provider with another body`]);
    expect(resend.sent).toHaveLength(1);
    expect(client.state().failures).toBe(0);
  });

  it('has a wait that may be a date', () => {
    stopClock();
    const inHalfAMinute = new Date(Date.now() + 30_000).toUTCString();
    expect(parseRetryAfterMs({ 'retry-after': inHalfAMinute })).toBeGreaterThan(28_000);
    expect(parseRetryAfterMs({ 'retry-after': inHalfAMinute })).toBeLessThanOrEqual(30_000);
    expect(parseRetryAfterMs({ 'retry-after': 'Thu, 01 Jan 1970 00:00:00 GMT' })).toBe(1_000);
    expect(parseRetryAfterMs({ 'retry-after': '-5' })).toBeNull();
    expect(parseRetryAfterMs({})).toBeNull();
  });
});

describe('a provider that cannot be reached', () => {
  it('is given nothing', async () => {
    const { client } = await openClient({ url: 'http://127.0.0.1:1' }, { waits: false });
    let left = 0;
    const leave = () => Promise.resolve((left += 1) > 0);
    expect(await client.email!.submit(email(), leave)).toEqual({ kind: 'broken', code: 'no_session' });
    expect(left).toBe(0);
    await until(() => client.state().lastError === 'ECONNREFUSED');
  });

  it('any more in the middle of a file, took nothing', async () => {
    const { resend, submit } = await openClient();
    resend.next((response) => void response.destroy());
    const given = email({ attachments: [file(randomBytes(9_000_000))] });
    expect(await submit(given)).toMatchObject({ kind: 'broken' });
    expect(await submit(given)).toMatchObject({ kind: 'accepted' });
  });

  it('is given nothing more after three failures, and again once it answers a probe', async () => {
    const { resend, client, submit } = await openClient();
    resend.always(answers(503, 'application_error'));
    for (let n = 0; n < 3; n += 1) expect(await submit(email())).toMatchObject({ kind: 'unanswered' });
    expect(await submit(email())).toEqual({ kind: 'broken', code: 'no_session' });
    expect(client.state()).toMatchObject({
      takesSubmits: false,
      sessions: 0,
      lastError: 'application_error',
    });
    resend.always(null);
    await working(client);
    expect(await submit(email())).toMatchObject({ kind: 'accepted' });
  });

  it('is given more however often one e-mail fails, and nothing more after three of them', async () => {
    const { resend, client, submit } = await openClient();
    const poisoned = email();
    resend.always(answers(500, 'internal_server_error'));
    for (let n = 0; n < 5; n += 1) expect(await submit(poisoned)).toMatchObject({ kind: 'unanswered' });
    expect(client.state()).toMatchObject({ takesSubmits: true, failures: 5 });
    await submit(email());
    expect(await submit(email())).toMatchObject({ kind: 'unanswered' });
    expect(client.state()).toMatchObject({ takesSubmits: false });
    resend.always(null);
    await working(client);
    resend.always(answers(500, 'internal_server_error'));
    expect(await submit(poisoned)).toMatchObject({ kind: 'unanswered' });
    expect(client.state()).toMatchObject({ takesSubmits: true });
  });

  it('is given more however often what stands before it dislikes one e-mail, and nothing more after three of them', async () => {
    const { resend, client, submit } = await openClient();
    const disliked = email();
    resend.always(instead(403, 'error code: 1020'));
    for (let n = 0; n < 5; n += 1)
      expect(await submit(disliked)).toEqual({ kind: 'broken', code: 'http_403' });
    expect(client.state()).toMatchObject({ takesSubmits: true, failures: 5 });
    await submit(email());
    await submit(email());
    expect(client.state()).toMatchObject({ takesSubmits: false });
  });

  it('is given nothing more where it blames the key, whichever e-mail it was', async () => {
    const { resend, client, submit } = await openClient();
    resend.always(refuses(403, 'suspended_api_key'));
    const one = email();
    for (let n = 0; n < 3; n += 1) expect(await submit(one)).toMatchObject({ kind: 'broken' });
    expect(client.state()).toMatchObject({ takesSubmits: false });
  });

  it('is given nothing more once the key is revoked, and all again once it is good', async () => {
    const { resend, client, submit } = await openClient();
    const { apiKey } = resend;
    const given = email();
    await submit(given);
    resend.apiKey = 're_another';
    for (let n = 0; n < 3; n += 1)
      expect(await submit(n === 0 ? given : email())).toEqual({ kind: 'broken', code: 'invalid_api_key' });
    expect(await submit(email())).toEqual({ kind: 'broken', code: 'no_session' });
    expect(client.state()).toMatchObject({
      takesSubmits: false,
      lastError: 'wrong API key (invalid_api_key)',
    });
    resend.apiKey = apiKey;
    await working(client);
    expect(await submit(given)).toMatchObject({ kind: 'accepted' });
  });

  it('is given nothing while the account’s quota is used up, though it answers probes', async () => {
    const { resend, client, submit } = await openClient();
    resend.next(refuses(429, 'daily_quota_exceeded'));
    expect(await submit(email())).toEqual({ kind: 'broken', code: 'daily_quota_exceeded' });
    await delay(1_500);
    expect(await submit(email())).toEqual({ kind: 'broken', code: 'no_session' });
    expect(client.state().lastError).toBe(
      'the account’s e-mails of a day are used up (daily_quota_exceeded)',
    );
    expect(resend.calls.filter(({ path }) => path === '/emails')).toHaveLength(1);
  });
});

describe('a file that cannot be read', () => {
  it('holds up its e-mail, and nothing of the route', async () => {
    const { resend, client, submit, errors } = await openClient();
    const broken = new Error('no database');
    const unreadable = {
      ...file(randomBytes(3000)),
      async *content() {
        yield await Promise.resolve(Buffer.alloc(300));
        throw broken;
      },
    };
    const given = email({ attachments: [unreadable] });
    expect(await submit(given)).toEqual({ kind: 'later', retryAfterMs: 10_000, code: 'content_unreadable' });
    expect(errors).toEqual([broken]);
    expect(client.state().failures).toBe(0);
    expect(await submit({ ...given, attachments: [] })).toMatchObject({ kind: 'accepted' });
    expect(resend.sent).toHaveLength(1);
  });
});

describe('testing a route', () => {
  const settings = (url: string) => ({ url });

  it('asks for a sign of life and sends nothing', async () => {
    const resend = await openResend();
    const { apiKey, webhookSecret } = resend;
    expect(await kind.test(settings(resend.url), { apiKey, webhookSecret })).toEqual({
      ok: true,
      answer: 'the API key is known',
    });
    expect(resend.calls.map(({ method, path }) => `${method} ${path}`)).toEqual(['GET /domains']);
  });

  it('says what is missing, and what is wrong', async () => {
    const resend = await openResend();
    const tested = async (apiKey: string) => kind.test(settings(resend.url), { apiKey });
    expect(await tested(resend.sendingKey)).toMatchObject({
      ok: true,
      answer: expect.stringMatching(/may only send.*no webhookSecret/) as string,
    });
    expect(await tested('re_wrong_key')).toEqual({ ok: false, problem: 'wrong API key (invalid_api_key)' });
    resend.always((response) => void response.end('<html>'));
    expect(await tested(resend.apiKey)).toEqual({ ok: false, problem: 'not_understood' });
  });
});
