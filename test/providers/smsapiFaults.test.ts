import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { errorAnswer, json, type Mischief } from '../smsapi/provider.ts';
import { type StoppedClock, stopClock } from '../support/stopClock.ts';
import { leaves, openClient, type Opened, sms, working } from './smsapiClient.ts';
import { until } from './until.ts';

describe('a misbehaving provider', () => {
  const status =
    (code: number, headers = {}): Mischief =>
    (response) =>
      void response.writeHead(code, headers).end('oops');
  const half: Mischief = (response, take) => {
    const body = JSON.stringify(take());
    response.writeHead(200, { 'Content-Length': body.length });
    response.write(body.slice(0, 20), () => response.destroy());
  };
  const body =
    (text: unknown): Mischief =>
    (response) =>
      void response.end(typeof text === 'string' ? text : JSON.stringify(text));
  const cases: [string, Mischief, object][] = [
    ['500', status(500), { kind: 'unanswered', code: 'http_500' }],
    [
      '429',
      status(429, { 'Retry-After': '7' }),
      { kind: 'throttled', retryAfterMs: 7_000, code: 'http_429' },
    ],
    [
      '429 for a year',
      status(429, { 'Retry-After': '999999' }),
      { kind: 'throttled', retryAfterMs: 300_000, code: 'http_429' },
    ],
    ['429 with a code that nobody knows', errorAnswer(1, 429), { kind: 'throttled', code: 'http_429' }],
    ['401', status(401), { kind: 'broken', code: 'http_401' }],
    ['a redirect', status(302, { Location: 'https://evil.example/' }), { kind: 'broken', code: 'http_302' }],
    ['half an answer', half, { kind: 'unanswered' }],
    ['a reset', (response) => void response.destroy(), { kind: 'unanswered' }],
    ['no JSON', body('<html>'), { kind: 'unanswered', code: 'not_understood' }],
    ['a list that is none', body({ list: { 0: 'x' } }), { kind: 'unanswered', code: 'not_understood' }],
    [
      'two entries',
      body({ list: [{ id: '1' }, { id: '2' }] }),
      { kind: 'unanswered', code: 'not_understood' },
    ],
    ['an id with NUL', body({ list: [{ id: 'a\0b' }] }), { kind: 'unanswered', code: 'not_understood' }],
    [
      'an id of a mile',
      body({ list: [{ id: 'a'.repeat(65) }] }),
      { kind: 'unanswered', code: 'not_understood' },
    ],
    ['megabytes', body(`{"list":[{"id":"${'a'.repeat(3_000_000)}"}]}`), { kind: 'unanswered' }],
    ['deep nesting', body('['.repeat(50_000)), { kind: 'unanswered', code: 'not_understood' }],
  ];
  it.each(cases)('%s', async (_, mischief, expected) => {
    const { provider, client } = await openClient();
    provider.next(mischief);
    expect(await client.submit(sms(), leaves)).toMatchObject(expected);
    expect(await client.submit(sms(), leaves)).toMatchObject({ kind: 'accepted' });
  });

  /** Has a message not answered in time; returns what answers it. */
  async function outOfTime({ provider, client }: Opened, clock: StoppedClock, part = sms()) {
    let answer: (() => void) | undefined;
    provider.next((response, take) => (answer = () => json(response, 200, take())));
    const submitted = client.submit(part, leaves);
    await until(() => answer !== undefined);
    await clock.pass(10_000);
    expect(await submitted).toEqual({ kind: 'unanswered', code: 'timed_out' });
    return answer!;
  }

  /** Has a message answered after its time; its answer is on its way to the store when this ends. */
  async function answeredLate(opened: Opened, clock: StoppedClock): Promise<void> {
    const { client } = opened;
    const answer = await outOfTime(opened, clock);
    answer();
    await until(() => client.state().inFlight === 0);
  }

  it('whose late answer waits to be stored again when the client stops has it stored before that ends', async () => {
    let away = true;
    const clock = stopClock();
    const opened = await openClient(
      { responseSeconds: 10 },
      { storesLate: () => (away ? Promise.reject(new Error('away')) : Promise.resolve()) },
    );
    const { client, late, errors } = opened;
    await answeredLate(opened, clock);
    await until(() => errors.length === 1);
    away = false;
    await client.stop();
    expect(late).toHaveLength(1);
  });

  it('that does not answer in time leaves a message unanswered, and its late answer is told', async () => {
    const clock = stopClock();
    const opened = await openClient({ responseSeconds: 10 });
    const { provider, client, late } = opened;
    const part = sms();
    const answer = await outOfTime(opened, clock, part);
    expect(client.state().inFlight).toBe(1);

    answer();
    await until(() => late.length === 1);
    expect(late).toEqual([[part.reference, { kind: 'accepted', providerMessageId: provider.taken[0]?.id }]]);
    expect(client.state().inFlight).toBe(0);
  });

  it('is not given more at once than the window holds', async () => {
    const { provider, client: narrow } = await openClient({ window: 2 });
    const answers: (() => void)[] = [];
    const hold: Mischief = (response, take) => void answers.push(() => json(response, 200, take()));
    provider.next(hold, hold, hold);
    const submits = [1, 2, 3].map(() => narrow.submit(sms(), leaves));
    await until(() => answers.length === 2);
    await delay(100);
    expect(answers).toHaveLength(2);
    expect(narrow.state().inFlight).toBe(2);
    answers[0]!();
    await until(() => answers.length === 3);
    answers[1]!();
    answers[2]!();
    expect(await Promise.all(submits)).toHaveLength(3);
    expect(provider.taken).toHaveLength(3);
  });
});

describe('a route that is broken', () => {
  it('works again only with points on the account', async () => {
    const { provider, client } = await openClient();
    provider.points = 0;
    for (let i = 0; i < 3; i += 1) {
      expect(await client.submit(sms(), leaves)).toEqual({ kind: 'broken', code: '103' });
    }
    const probes = () => provider.calls.filter(({ path }) => path === '/profile').length;
    const before = probes();
    await until(() => probes() > before + 1);
    expect(client.state()).toMatchObject({ sessions: 0, lastError: 'no points (103)' });
    provider.points = 10;
    await working(client);
    expect(await client.submit(sms(), leaves)).toMatchObject({ kind: 'accepted' });
  });

  it('is not broken by refusals', async () => {
    const { provider, client } = await openClient();
    provider.next(...[1, 2, 3, 4, 5].map(() => errorAnswer(13)));
    for (let i = 0; i < 5; i += 1) await client.submit(sms(), leaves);
    expect(client.state()).toMatchObject({ sessions: 1, failures: 0 });
  });
});

describe('stopping', () => {
  it('waits for answers under way', async () => {
    const { provider, client: slow } = await openClient();
    let answer = () => {};
    provider.next((response, take) => (answer = () => json(response, 200, take())));
    const submitted = slow.submit(sms(), leaves);
    await until(() => slow.state().inFlight === 1);
    await until(() => provider.calls.filter(({ path }) => path === '/sms.do').length === 1);
    const stopped = slow.stop();
    answer();
    expect(await submitted).toMatchObject({ kind: 'accepted' });
    await stopped;
    expect(await slow.submit(sms(), leaves)).toMatchObject({ kind: 'broken' });
  });
});
