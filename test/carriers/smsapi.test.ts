import { setTimeout as delay } from 'node:timers/promises';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Carrier, CarrierHandlers } from '../../carriers/carrier.ts';
import { createSmsapiCarrier, testSmsapiRoute } from '../../carriers/smsapi/carrier.ts';
import { createProviderHttp } from '../../carriers/smsapi/http.ts';
import { smsapiSettings } from '../../carriers/smsapi/settings.ts';
import type { LookupAnswer } from '../../domain/lookups.ts';
import type { DeliveryReport, SubmitPart } from '../../domain/submission.ts';
import { errorAnswer, json, type Mischief, type Provider, startProvider } from '../smsapi/provider.ts';
import { eventually } from '../support/eventually.ts';

const SECRET = 'a'.repeat(32);
const CALLBACK_URL = 'https://api.example';
const leaves = () => Promise.resolve(true);
let provider: Provider;
let carrier: Carrier;
let reports: DeliveryReport[];
let late: [string, unknown][];
let storesLate: () => Promise<void>;
let errors: unknown[];
let lookups: Map<string, LookupAnswer>;
const running: Carrier[] = [];
const servers: Server[] = [];

beforeEach(async () => {
  provider = await startProvider();
  reports = [];
  late = [];
  storesLate = () => Promise.resolve();
  errors = [];
  lookups = new Map();
  carrier = await open();
});

afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.stop()));
  for (const server of servers.splice(0)) server.close();
  await provider.close();
});

/** A carrier that works, unless told not to wait for that. */
async function open(
  given: Record<string, unknown> = {},
  { token = provider.token, waits = true } = {},
): Promise<Carrier> {
  const opened = createSmsapiCarrier({
    name: 'smsapi',
    settings: smsapiSettings.parse({
      url: provider.url,
      callbackUrl: CALLBACK_URL,
      responseSeconds: 1,
      ...given,
    }),
    credentials: { token, callbackSecret: SECRET },
    lookups: { find: (_, id) => Promise.resolve(lookups.get(id) ?? null) },
    onError: (error) => errors.push(error),
  });
  running.push(opened);
  const handlers: CarrierHandlers = {
    onReports: (more) => Promise.resolve(void reports.push(...more)),
    onReplies: () => Promise.resolve(),
    onSegment: () => Promise.resolve(),
    async onLateAnswer(reference, answer) {
      await storesLate();
      late.push([reference, answer]);
    },
  };
  await opened.start(handlers);
  if (waits) await working(opened);
  return opened;
}

const working = (one: Carrier) =>
  eventually(
    () => Promise.resolve(one.state().sessions),
    (sessions) => sessions === 1,
  );

let counter = 0;
function sms(over: Partial<SubmitPart> = {}): SubmitPart {
  counter += 1;
  return {
    reference: `msg_01kaj${String(counter).padStart(21, '0')}/0`,
    destination: '+48500100200',
    sender: 'GONIEC',
    encoding: 'gsm7',
    text: 'Hej',
    part: 1,
    parts: 1,
    concatReference: 1,
    priority: false,
    expiresAt: new Date(Date.now() + 24 * 3_600_000),
    ...over,
  };
}

describe('a message to SMSAPI.pl', () => {
  it('is sent whole, with our reference and the address for reports', async () => {
    const part = sms({ text: 'Zażółć gęślą jaźń, 100 € & 50%+1 = „tak” 🙂\nŁódź' });
    const answer = await carrier.submit(part, leaves);

    expect(answer).toEqual({ kind: 'accepted', carrierMessageId: provider.taken[0]?.id });
    expect(provider.taken).toHaveLength(1);
    expect(provider.taken[0]).toMatchObject({
      to: '48500100200',
      from: 'GONIEC',
      text: part.text,
      idx: part.reference.replace('msg_', 'msg').replace('/0', 'p0'),
      notifyUrl: `${CALLBACK_URL}/callbacks/smsapi/${SECRET}/reports`,
      form: { check_idx: '1', format: 'json', encoding: 'utf-8', details: '1' },
    });
    expect(provider.calls.every(({ token }) => token === provider.token)).toBe(true);
  });

  it('names no sender where there is none, and the route’s where the route has one', async () => {
    await carrier.submit(sms({ sender: null }), leaves);
    const twoWay = await open({ sender: '2way' });
    await twoWay.submit(sms(), leaves);
    expect(provider.taken.map(({ from }) => from)).toEqual([null, '2way']);
  });

  it('is fast where it has priority and the route pays for that', async () => {
    const fast = await open({ fastPriority: true });
    await fast.submit(sms({ priority: true }), leaves);
    await fast.submit(sms(), leaves);
    await carrier.submit(sms({ priority: true }), leaves);
    expect(provider.taken.map(({ form }) => form['fast'])).toEqual(['1', undefined, undefined]);
  });

  it('has a validity that the provider takes, as near to its own as can be', async () => {
    const hours = [0.01, 5, 72, 500];
    for (const h of hours) {
      const expiresAt = new Date(Date.now() + h * 3_600_000);
      expect(await carrier.submit(sms({ expiresAt }), leaves)).toMatchObject({ kind: 'accepted' });
    }
    const seconds = provider.taken.map(({ form }) => Number(form['expiration_date']) - Date.now() / 1000);
    expect(seconds.map((s) => Math.round(s / 60))).toEqual([60, 300, 72 * 60 - 10, 72 * 60 - 10]);
  });

  it('is refused by us where the provider would replace a part of its text', async () => {
    const answer = await carrier.submit(sms({ text: 'Witaj [%imie%]' }), leaves);
    expect(answer).toEqual({ kind: 'refused', reason: 'invalid_content', code: 'placeholder' });
    expect(await carrier.submit(sms({ text: 'rabat [50 %], 10%]' }), leaves)).toMatchObject({
      kind: 'accepted',
    });
    expect(provider.taken).toHaveLength(1);
  });

  it('stays here when it must not leave', async () => {
    expect(await carrier.submit(sms(), () => Promise.resolve(false))).toEqual({ kind: 'withheld' });
    await expect(carrier.submit(sms(), () => Promise.reject(new Error('database away')))).rejects.toThrow(
      'database away',
    );
    expect(provider.taken).toHaveLength(0);
    expect(carrier.state().inFlight).toBe(0);
  });

  it('cut into another number of parts than billed is logged, without what it says', async () => {
    await carrier.submit(sms({ text: 'tajne', parts: 2 }), leaves);
    expect(errors.map(String).join()).toMatch(/cut into 1 parts by the provider, billed as 2/);
    expect(errors.map(String).join()).not.toContain('tajne');
  });

  it('whose answer names its end already is reported at once', async () => {
    provider.next((response) =>
      json(response, 200, { count: 1, list: [{ id: 'X1', status: 'REJECTED', error: null }] }),
    );
    const part = sms();
    expect(await carrier.submit(part, leaves)).toEqual({ kind: 'accepted', carrierMessageId: 'X1' });
    expect(reports).toEqual([
      { carrierMessageId: 'X1', reference: part.reference, state: 'rejected', errorCode: null },
    ]);
  });

  it('given twice is not sent twice: the second is unanswered', async () => {
    const part = sms();
    await carrier.submit(part, leaves);
    expect(await carrier.submit(part, leaves)).toEqual({ kind: 'unanswered', code: '53' });
    expect(provider.taken).toHaveLength(1);
    expect(carrier.state().sessions).toBe(1);
  });
});

describe('an error code', () => {
  const codes: [number, object][] = [
    [11, { kind: 'refused', reason: 'invalid_content' }],
    [13, { kind: 'refused', reason: 'invalid_destination' }],
    [14, { kind: 'refused', reason: 'invalid_sender' }],
    [57, { kind: 'refused', reason: 'not_permitted' }],
    [202, { kind: 'throttled', retryAfterMs: 1_000 }],
    [52, { kind: 'later', retryAfterMs: 60_000 }],
    [200, { kind: 'later', retryAfterMs: 10_000 }],
    [101, { kind: 'broken' }],
    [103, { kind: 'broken' }],
    [105, { kind: 'broken' }],
    [999, { kind: 'unanswered' }],
    [424_242, { kind: 'unanswered' }],
  ];
  it.each(codes)('%i says what is to be done', async (code, expected) => {
    provider.next(errorAnswer(code));
    expect(await carrier.submit(sms(), leaves)).toEqual({ ...expected, code: String(code) });
  });

  it('is read as the route wants it', async () => {
    const own = await open({ errors: { 999: 'later:30', 103: 'refused', 13: 'unknown' } });
    provider.next(errorAnswer(999), errorAnswer(103), errorAnswer(13));
    expect(await own.submit(sms(), leaves)).toEqual({ kind: 'later', retryAfterMs: 30_000, code: '999' });
    expect(await own.submit(sms(), leaves)).toMatchObject({ kind: 'refused', reason: 'carrier_refused' });
    expect(await own.submit(sms(), leaves)).toMatchObject({ kind: 'unanswered', code: '13' });
  });

  it('is the entry’s own where the list has one', async () => {
    provider.next((response) => json(response, 200, { count: 1, list: [{ id: 'X', error: 13 }] }));
    expect(await carrier.submit(sms(), leaves)).toMatchObject({ kind: 'refused', code: '13' });
  });
});

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
    ['502 of a proxy', status(502), { kind: 'unanswered', code: 'http_502' }],
    ['503', status(503), { kind: 'unanswered', code: 'http_503' }],
    ['408', status(408), { kind: 'unanswered', code: 'http_408' }],
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
    ['404', status(404), { kind: 'broken', code: 'http_404' }],
    ['a redirect', status(302, { Location: 'https://evil.example/' }), { kind: 'broken', code: 'http_302' }],
    ['half an answer', half, { kind: 'unanswered' }],
    ['a reset', (response) => void response.destroy(), { kind: 'unanswered' }],
    ['no JSON', body('<html>'), { kind: 'unanswered', code: 'not_understood' }],
    ['an empty answer', body(''), { kind: 'unanswered', code: 'not_understood' }],
    ['null', body('null'), { kind: 'unanswered', code: 'not_understood' }],
    ['an array', body([1]), { kind: 'unanswered', code: 'not_understood' }],
    ['a list that is none', body({ list: { 0: 'x' } }), { kind: 'unanswered', code: 'not_understood' }],
    ['an empty list', body({ count: 0, list: [] }), { kind: 'unanswered', code: 'not_understood' }],
    [
      'two entries',
      body({ list: [{ id: '1' }, { id: '2' }] }),
      { kind: 'unanswered', code: 'not_understood' },
    ],
    ['an id of no use', body({ list: [{ id: { a: 1 } }] }), { kind: 'unanswered', code: 'not_understood' }],
    ['an id with NUL', body({ list: [{ id: 'a\0b' }] }), { kind: 'unanswered', code: 'not_understood' }],
    [
      'an id of a mile',
      body({ list: [{ id: 'a'.repeat(65) }] }),
      { kind: 'unanswered', code: 'not_understood' },
    ],
    ['an error of no use', body({ error: 'yes' }), { kind: 'unanswered', code: 'not_understood' }],
    ['megabytes', body(`{"list":[{"id":"${'a'.repeat(3_000_000)}"}]}`), { kind: 'unanswered' }],
    ['deep nesting', body('['.repeat(50_000)), { kind: 'unanswered', code: 'not_understood' }],
  ];
  it.each(cases)('%s', async (_, mischief, expected) => {
    provider.next(mischief);
    expect(await carrier.submit(sms(), leaves)).toMatchObject(expected);
    expect(await carrier.submit(sms(), leaves)).toMatchObject({ kind: 'accepted' });
  });

  /** Has a message answered after its time; its answer is on its way to the store when this ends. */
  async function answeredLate(): Promise<void> {
    let answer = () => {};
    provider.next((response, take) => (answer = () => json(response, 200, take())));
    expect(await carrier.submit(sms(), leaves)).toMatchObject({ kind: 'unanswered' });
    answer();
    await eventually(
      () => Promise.resolve(carrier.state().inFlight),
      (inFlight) => inFlight === 0,
    );
  }

  it('whose late answer cannot be stored at first has it stored by and by, and nobody is asked twice', async () => {
    let failures = 0;
    storesLate = () => (failures++ < 1 ? Promise.reject(new Error('away')) : Promise.resolve());
    await answeredLate();
    await eventually(
      () => Promise.resolve(late),
      (told) => told.length === 1,
    );
    expect(late[0]?.[1]).toEqual({ kind: 'accepted', carrierMessageId: provider.taken[0]?.id });
    expect(errors).toEqual([new Error('away')]);
    expect(provider.taken).toHaveLength(1);
  });

  it('whose late answer waits to be stored again when the carrier stops has it stored before that ends', async () => {
    let away = true;
    storesLate = () => (away ? Promise.reject(new Error('away')) : Promise.resolve());
    await answeredLate();
    await eventually(
      () => Promise.resolve(errors),
      (told) => told.length === 1,
    );
    away = false;
    await carrier.stop();
    expect(late).toHaveLength(1);
  });

  it('that does not answer in time leaves a message unanswered, and its late answer is told', async () => {
    let answer = () => {};
    provider.next((response, take) => (answer = () => json(response, 200, take())));
    const part = sms();
    const before = Date.now();
    expect(await carrier.submit(part, leaves)).toEqual({ kind: 'unanswered', code: 'timed_out' });
    expect(Date.now() - before).toBeLessThan(3_000);
    expect(carrier.state().inFlight).toBe(1);

    answer();
    await eventually(
      () => Promise.resolve(late),
      (told) => told.length === 1,
    );
    expect(late).toEqual([[part.reference, { kind: 'accepted', carrierMessageId: provider.taken[0]?.id }]]);
    expect(carrier.state().inFlight).toBe(0);
  });

  it('is not given more at once than the window holds', async () => {
    const narrow = await open({ window: 2, responseSeconds: 10 });
    const answers: (() => void)[] = [];
    const hold: Mischief = (response, take) => void answers.push(() => json(response, 200, take()));
    provider.next(hold, hold, hold);
    const submits = [1, 2, 3].map(() => narrow.submit(sms(), leaves));
    await eventually(
      () => Promise.resolve(answers.length),
      (n) => n === 2,
    );
    await delay(100);
    expect(answers).toHaveLength(2);
    expect(narrow.state().inFlight).toBe(2);
    answers[0]!();
    await eventually(
      () => Promise.resolve(answers.length),
      (n) => n === 3,
    );
    answers[1]!();
    answers[2]!();
    expect(await Promise.all(submits)).toHaveLength(3);
    expect(provider.taken).toHaveLength(3);
  });
});

describe('a provider that cannot be reached', () => {
  /** An address where nobody listens. */
  async function deadUrl(): Promise<string> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, 'close');
    return `http://127.0.0.1:${port}`;
  }

  it('has certainly not taken the message', async () => {
    const { url } = provider;
    await carrier.submit(sms(), leaves);
    await provider.close();
    provider = await startProvider();
    // An idle connection that was closed is noticed, or else nothing was written on a new one.
    expect(await carrier.submit(sms(), leaves)).toMatchObject({ kind: 'broken' });
    expect(url).not.toBe(provider.url);
  });

  /** A server that does this to every connection. */
  async function rudeServer(greet: (socket: Socket) => void): Promise<string> {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      greet(socket);
    }).listen(0, '127.0.0.1');
    servers.push(server);
    await once(server, 'listening');
    return `127.0.0.1:${(server.address() as AddressInfo).port}`;
  }
  const limits = { writtenWithinMs: 500, answeredWithinMs: 1_000 };

  it.each([
    ['a connection reset while TLS is agreed', (socket: Socket) => void socket.destroy(), 'https'],
    ['no TLS on the other side', (socket: Socket) => void socket.end('220 smtp\r\n'), 'https'],
    ['TLS that is never agreed', (socket: Socket) => void socket.on('error', () => undefined), 'https'],
  ])('%s: certainly nothing was written', async (_, greet, protocol) => {
    const http = createProviderHttp([`${protocol}://${await rudeServer(greet)}`], provider.token);
    expect(await http.post('/sms.do', { to: '1' }, limits)).toMatchObject({ kind: 'not_sent' });
    expect(await http.get('/profile', limits)).toMatchObject({ kind: 'not_sent' });
    await http.close();
  });

  it.each([
    [
      'a connection reset once the request has come',
      (socket: Socket) => void socket.once('data', () => socket.destroy()),
    ],
    ['a connection reset at once', (socket: Socket) => void socket.destroy()],
    ['silence', (socket: Socket) => void socket.on('error', () => undefined)],
    [
      'an answer that is no HTTP',
      (socket: Socket) => void socket.once('data', () => socket.end('hello\r\n\r\n')),
    ],
    ['an answer that never ends', (socket: Socket) => void socket.write('HTTP/1.1 200 OK\r\n\r\n{"list":')],
    [
      'headers without end',
      (socket: Socket) => void socket.write(`HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(50_000)}`),
    ],
  ])('%s: nobody knows what was taken', async (_, greet) => {
    const http = createProviderHttp([`http://${await rudeServer(greet)}`], provider.token);
    expect(await http.post('/sms.do', { to: '1' }, limits)).toMatchObject({ kind: 'lost' });
    await http.close();
  });

  it('is tried at its second address', async () => {
    const second = await open({ url: await deadUrl(), backupUrl: provider.url });
    expect(await second.submit(sms(), leaves)).toMatchObject({ kind: 'accepted' });
    expect(provider.taken).toHaveLength(1);
  });

  it('gets nothing from us before it has answered a first time', async () => {
    const closed = await open({ url: await deadUrl() }, { waits: false });
    await eventually(
      () => Promise.resolve(closed.state().failures),
      (failures) => failures > 0,
    );
    expect(await closed.submit(sms(), () => Promise.reject(new Error('asked')))).toEqual({
      kind: 'broken',
      code: 'no_session',
    });
    expect(closed.state()).toMatchObject({ sessions: 0, sessionsWanted: 1, lastError: 'ECONNREFUSED' });
  });
});

describe('a route that is broken', () => {
  it('gets no more messages after three failures, until the provider answers again', async () => {
    provider.always((response) => void response.writeHead(500).end());
    for (let i = 0; i < 3; i += 1) await carrier.submit(sms(), leaves);
    expect(carrier.state()).toMatchObject({ sessions: 0, lastError: 'http_500' });
    expect(await carrier.submit(sms(), leaves)).toEqual({ kind: 'broken', code: 'no_session' });
    expect(provider.calls.filter(({ path }) => path === '/sms.do')).toHaveLength(3);

    provider.always(null);
    await working(carrier);
    expect(await carrier.submit(sms(), leaves)).toMatchObject({ kind: 'accepted' });
  });

  it('works again only with points on the account', async () => {
    provider.points = 0;
    for (let i = 0; i < 3; i += 1) {
      expect(await carrier.submit(sms(), leaves)).toEqual({ kind: 'broken', code: '103' });
    }
    const probes = () => provider.calls.filter(({ path }) => path === '/profile').length;
    const before = probes();
    await eventually(
      () => Promise.resolve(probes()),
      (n) => n > before + 1,
    );
    expect(carrier.state()).toMatchObject({ sessions: 0, lastError: 'no points (103)' });
    provider.points = 10;
    await working(carrier);
    expect(await carrier.submit(sms(), leaves)).toMatchObject({ kind: 'accepted' });
  });

  it('is not broken by refusals', async () => {
    provider.next(...[1, 2, 3, 4, 5].map(() => errorAnswer(13)));
    for (let i = 0; i < 5; i += 1) await carrier.submit(sms(), leaves);
    expect(carrier.state()).toMatchObject({ sessions: 1, failures: 0 });
  });

  it('with a wrong token never works', async () => {
    const wrong = await open({}, { token: 'wrong-token', waits: false });
    await eventually(
      () => Promise.resolve(wrong.state().lastError),
      (error) => error === 'wrong token (101)',
    );
    expect(wrong.state().sessions).toBe(0);
  });
});

describe('stopping', () => {
  it('waits for answers under way', async () => {
    let answer = () => {};
    provider.next((response, take) => (answer = () => json(response, 200, take())));
    const slow = await open({ responseSeconds: 10 });
    const submitted = slow.submit(sms(), leaves);
    await eventually(
      () => Promise.resolve(slow.state().inFlight),
      (n) => n === 1,
    );
    await eventually(
      () => Promise.resolve(provider.calls.filter(({ path }) => path === '/sms.do').length),
      (n) => n === 1,
    );
    const stopped = slow.stop();
    answer();
    expect(await submitted).toMatchObject({ kind: 'accepted' });
    await stopped;
    expect(await slow.submit(sms(), leaves)).toMatchObject({ kind: 'broken' });
  });
});

describe('a look-up', () => {
  it('is answered by a callback', async () => {
    provider.lookupAnswer = (id, number) => {
      setTimeout(
        () =>
          lookups.set(id, {
            kind: 'found',
            status: 'active',
            network: 'Play',
            mcc: '260',
            mnc: '06',
            ported: true,
          }),
        300,
      );
      return { status: 'OK', number, id, price: 0.04 };
    };
    expect(await carrier.lookup('+48500100200')).toMatchObject({ kind: 'found', network: 'Play' });
    const asked = provider.calls.find(({ path }) => path === '/hlr.do');
    expect(asked?.form).toEqual({ number: '48500100200', format: 'json' });
  });

  it('is answered at once where the provider does so', async () => {
    const sync = await open({ lookups: 'sync' });
    provider.lookupAnswer = (id, number) => ({
      count: 1,
      list: [
        { id, number, date: 1, mcc: 260, mnc: 3, info: 'OK', status: 'OK', ported: 0, ported_from: null },
      ],
    });
    expect(await sync.lookup('+48500100200')).toEqual({
      kind: 'found',
      status: 'active',
      network: 'Orange',
      mcc: '260',
      mnc: '03',
      ported: false,
    });
    expect(provider.calls.some(({ path }) => path === '/hlrsync.do')).toBe(true);
  });

  it('of a number that cannot be one finds that', async () => {
    provider.lookupAnswer = (_, number) => ({ number, status: 'ERROR', error: 13 });
    expect(await carrier.lookup('+48500100200')).toMatchObject({ kind: 'found', status: 'invalid' });
  });

  it.each([
    ['an error', () => ({ error: 103, message: 'no points' })],
    ['nonsense', () => 'yes'],
    ['no id', () => ({ status: 'OK' })],
  ])('fails on %s', async (_, answer) => {
    provider.lookupAnswer = answer;
    expect(await carrier.lookup('+48500100200')).toEqual({ kind: 'failed' });
  });

  it('whose callback does not come times out', async () => {
    const before = Date.now();
    expect(await carrier.lookup('+48500100200')).toEqual({ kind: 'timed_out' });
    expect(Date.now() - before).toBeLessThan(3_000);
  });

  it('whose question is not answered times out', async () => {
    provider.always(() => undefined);
    expect(await carrier.lookup('+48500100200')).toEqual({ kind: 'timed_out' });
  });
});

describe('testing a route', () => {
  const credentials = () => ({ token: provider.token, callbackSecret: SECRET });

  it('tells whose account it is, and sends nothing', async () => {
    const settings = smsapiSettings.parse({ url: provider.url });
    expect(await testSmsapiRoute(settings, credentials())).toEqual({
      ok: true,
      account: 'firma, 1000 points',
    });
    expect(provider.calls.map(({ path }) => path)).toEqual(['/profile', '/profile']);
  });

  it('tells what is the matter', async () => {
    const settings = smsapiSettings.parse({ url: provider.url });
    const wrong = { ...credentials(), token: 'wrong-token' };
    expect(await testSmsapiRoute(settings, wrong)).toEqual({ ok: false, problem: 'wrong token (101)' });
  });
});
