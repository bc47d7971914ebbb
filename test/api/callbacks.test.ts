import { randomBytes, randomInt } from 'node:crypto';
import { Writable } from 'node:stream';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { findLookupAnswer } from '../../db/lookups/lookups.ts';
import {
  addRoute,
  changeRoute,
  removeRoute,
  type Route,
  sealCredentials,
  setRouteState,
} from '../../db/routes/routes.ts';
import { startCutOffApi } from '../support/cutOffApi.ts';
import { eventually } from '../support/eventually.ts';
import { database, newAccount } from '../support/factories.ts';
import { startOwnApi } from '../support/ownApi.ts';
import { callBack, reportFields } from '../smsapi/callbacks.ts';

// The service's worker is not to open it: what is stored is looked at, not applied.
const route = `sms-${randomBytes(4).toString('hex')}`;
const other = `${route}-b`;
const secret = randomBytes(24).toString('base64url');
const otherSecret = randomBytes(24).toString('base64url');
const addressOf = (kind: string, { of = route, by = secret, at = inject('service').apiUrl } = {}) =>
  `${at}/callbacks/${of}/${by}/${kind}`;
// That no other test has: accounts do not keep apart what comes from phones.
const newNumber = (): string => `+4867${String(randomInt(10_000_000)).padStart(7, '0')}`;
const newProviderId = () => randomBytes(12).toString('hex').toUpperCase();

const secretsKey = () => Buffer.from(inject('service').secretsKey, 'base64');
const made: string[] = [];
async function add(name: string, over: Partial<Route> = {}, callbackSecret = secret): Promise<void> {
  made.push(name);
  await addRoute(database(), {
    name,
    kind: 'smsapi',
    state: 'disabled',
    settings: {},
    credentials: sealCredentials(secretsKey(), name, { token: 'token-of-test', callbackSecret }),
    ratePerSecond: null,
    brokenAfterS: 10,
    ...over,
  });
}

beforeAll(async () => {
  await add(route);
  await add(other, {}, otherSecret);
});

afterAll(async () => {
  await database()`delete from delivery_reports where route like ${`${route}%`}`;
  await database()`delete from inbound_messages where route = ${route}`;
  await database()`delete from lookup_answers where route like ${`${route}%`}`;
  for (const name of made) await removeRoute(database(), name);
});

const OK = { status: 200, text: 'OK' };
const NOT_UNDERSTOOD = { status: 400, text: 'not understood' };

interface StoredReport {
  providerMessageId: string;
  messageId: string | null;
  part: number | null;
  phone: string | null;
  state: string;
  errorCode: string | null;
  details: string | null;
}
const storedReports = (ids: string[]) =>
  database()<StoredReport[]>`
    select provider_message_id, message_id, part, phone, state, error_code, details from delivery_reports
     where route = ${route} and provider_message_id = any(${ids}) order by id`;
const countReports = async () =>
  (
    await database()<{ n: number }[]>`select count(*)::int as n from delivery_reports where route = ${route}`
  )[0]!.n;

describe('delivery reports', () => {
  it('are stored as they came, and answered OK', async () => {
    const id = newProviderId();
    const answer = await callBack(
      addressOf('reports'),
      reportFields([{ id, status: 404, name: 'DELIVERED', idx: `msg${'0'.repeat(25)}zp0` }]),
    );
    expect(answer).toEqual(OK);
    const [stored] = await storedReports([id]);
    expect(stored).toMatchObject({
      ...{ providerMessageId: id, messageId: `msg_${'0'.repeat(25)}z`, part: 0 },
      ...{ phone: '+48500100200', state: 'delivered', errorCode: null },
    });
    expect(stored!.details).toMatch(
      /^status=404 status_name=DELIVERED sent_at=\d+ donedate=\d+ mcc=260 mnc=6 points=0.16$/,
    );
  });

  it('come several at once, in every status there is', async () => {
    const states: [number, string, string | null][] = [
      [401, 'unknown', null],
      [402, 'expired', '402'],
      [403, 'enroute', null],
      [404, 'delivered', null],
      [405, 'undelivered', '405'],
      [406, 'rejected', '406'],
      [407, 'rejected', '407'],
      [408, 'unknown', null],
      [409, 'enroute', null],
      [410, 'accepted', null],
      [411, 'enroute', null],
      [412, 'deleted', '412'],
      [499, 'unknown', null],
    ];
    const reports = states.map(([status]) => ({ id: newProviderId(), status }));
    const answer = await callBack(addressOf('reports'), reportFields(reports), 'POST');
    expect(answer).toEqual(OK);
    const stored = await storedReports(reports.map(({ id }) => id));
    expect(stored.map(({ state, errorCode }) => [state, errorCode])).toEqual(
      states.map(([, state, code]) => [state, code]),
    );
  });

  it('may come with less: the status by name, lists too short, no idx', async () => {
    const [a, b] = [newProviderId(), newProviderId()];
    const fields = {
      MsgId: `${a},${b}`,
      status_name: 'DELIVERED,UNDELIVERED',
      idx: 'nonsense',
      to: '48500100200',
    };
    expect(await callBack(addressOf('reports'), fields)).toEqual(OK);
    expect(await storedReports([a, b])).toMatchObject([
      { state: 'delivered', messageId: null, phone: null },
      { state: 'undelivered', messageId: null, phone: null },
    ]);
  });

  it('come as multipart, too', async () => {
    const id = newProviderId();
    const form = new FormData();
    form.set('MsgId', id);
    form.set('status', '404');
    const response = await fetch(addressOf('reports'), { method: 'POST', body: form });
    expect(await response.text()).toBe('OK');
    expect(await storedReports([id])).toHaveLength(1);
  });

  it('are taken from a route that sends no more', async () => {
    await setRouteState(database(), route, 'draining');
    const id = newProviderId();
    expect(await callBack(addressOf('reports'), reportFields([{ id, status: 404 }]))).toMatchObject({
      status: 200,
    });
    await setRouteState(database(), route, 'disabled');
  });

  it('that cannot be understood are not answered OK, and nothing of them is stored', async () => {
    const before = await countReports();
    const id = newProviderId();
    const valid = reportFields([{ id, status: 404 }]);
    const many = reportFields(Array.from({ length: 101 }, () => ({ id: newProviderId(), status: 404 })));
    const hostile: Record<string, string>[] = [
      {},
      { MsgId: '', status: '404' },
      { MsgId: id },
      { ...valid, MsgId: `${id},${id}` },
      { ...valid, status: '404,405' },
      { ...valid, MsgId: `${id}\0` },
      { ...valid, MsgId: `${id} ${id}` },
      { ...valid, MsgId: '\ud800' },
      { ...valid, MsgId: 'a'.repeat(65) },
      { ...valid, MsgId: ',' },
      many,
      { ...valid, ...Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`f${i}`, ''])) },
    ];
    for (const fields of hostile) {
      const answer = await callBack(addressOf('reports'), fields, 'POST');
      expect(answer).toEqual(NOT_UNDERSTOOD);
    }
    const twice = await fetch(`${addressOf('reports')}?MsgId=${id}&status=404&MsgId=${id}`);
    expect(twice.status).toBe(400);
    expect(await countReports()).toBe(before);
  });
});

describe('replies', () => {
  const reply = (over: Record<string, string> = {}) => ({
    ...{ sms_to: newNumber().slice(1), sms_from: newNumber().slice(1), sms_text: 'Tak' },
    ...{ sms_date: '1700000000', username: 'firma', ...over },
  });

  it('reach the account, once however often they come', async () => {
    const number = newNumber();
    const from = newNumber();
    const account = await newAccount({ inboundNumber: number });
    const prefix = account.id.slice(-8).toUpperCase();
    await account.api.patch('/v1/account', { inbound_prefix: prefix });
    const text = `${prefix} Zażółć 🙂\nz nową linią & znakami=100%+`;
    const fields = reply({ sms_to: number.slice(1), sms_from: from.slice(1), sms_text: text });
    for (let i = 0; i < 3; i += 1) {
      expect(await callBack(addressOf('replies'), fields, 'POST')).toEqual(OK);
    }
    const list = await eventually(
      () => account.api.get('/v1/inbound'),
      ({ body }) => body.data.length > 0,
    );
    expect(list.body.data).toMatchObject([
      { from, to: number, text: 'Zażółć 🙂\nz nową linią & znakami=100%+', matched_by: 'prefix' },
    ]);
  });

  it('to the same message are stored each', async () => {
    const from = newNumber().slice(1);
    const answers = [
      reply({ sms_from: from, MsgId: 'A1', sms_text: 'raz' }),
      reply({ sms_from: from, MsgId: 'A1', sms_text: 'dwa' }),
      reply({ sms_from: from, MsgId: 'A1', sms_text: 'dwa', sms_date: '1700000001' }),
    ];
    for (const fields of answers) await callBack(addressOf('replies'), fields, 'POST');
    const rows =
      await database()`select from inbound_messages where route = ${route} and sender = ${`+${from}`}`;
    expect(rows).toHaveLength(3);
  });

  it('that are none are not answered OK', async () => {
    for (const fields of [
      reply({ sms_from: '' }),
      reply({ sms_from: '1'.repeat(41) }),
      reply({ sms_text: 'a'.repeat(39_016) }),
      { sms_from: '48500100200' },
      reportFields([{ id: 'A', status: 404 }]),
    ]) {
      expect(await callBack(addressOf('replies'), fields, 'POST')).toEqual(NOT_UNDERSTOOD);
    }
  });
});

describe('answers to look-ups', () => {
  it('are stored for the request', async () => {
    const id = newProviderId();
    const fields = {
      id,
      number: '48500100200',
      mcc: '260',
      mnc: '6',
      info: 'OK',
      status: 'OK',
      ported: '1',
      date: '1',
    };
    expect(await callBack(addressOf('lookups'), fields)).toEqual(OK);
    expect(await callBack(addressOf('lookups'), { ...fields, mnc: '1' })).toEqual(OK);
    expect(await findLookupAnswer(database(), route, id)).toEqual({
      ...{ kind: 'found', status: 'active', network: 'Play', mcc: '260', mnc: '06', ported: true },
    });
    expect(await findLookupAnswer(database(), other, id)).toBeNull();
  });

  it.each([
    [{ status: 'FAIL', info: 'Unknown subscriber' }, 'invalid'],
    [{ status: 'OK', info: 'Absent subscriber' }, 'inactive'],
    [{ status: 'FAIL', info: 'czegoś nie wiemy' }, 'unknown'],
    [{ status: 'OK' }, 'active'],
  ])('%j means %s', async (fields, status) => {
    const id = newProviderId();
    await callBack(addressOf('lookups'), { id, ...fields }, 'POST');
    expect(await findLookupAnswer(database(), route, id)).toMatchObject({ status });
  });

  it('that are none are not answered OK', async () => {
    for (const fields of [
      {},
      { id: 'A' },
      { status: 'OK' },
      { id: 'a b', status: 'OK' },
      { id: '\0', status: 'OK' },
    ]) {
      expect(await callBack(addressOf('lookups'), fields)).toMatchObject({ status: 400 });
    }
  });
});

describe('others', () => {
  const nothing = { status: 404, text: 'not found' };

  it('get 404: unknown routes, wrong secrets and other kinds of routes look alike', async () => {
    const before = await countReports();
    const fields = reportFields([{ id: newProviderId(), status: 404 }]);
    for (const place of [
      { of: 'nobody' },
      { of: 'simulator' },
      { of: other },
      { by: otherSecret },
      { by: secret.slice(0, -1) },
      { by: `${secret}a` },
      { by: 'x'.repeat(5_000) },
      { by: '%00' },
      { of: '..%2f..' },
    ]) {
      expect(await callBack(addressOf('reports', place), fields)).toEqual(nothing);
      expect(await callBack(addressOf('replies', place), fields, 'POST')).toEqual(nothing);
      expect(await callBack(addressOf('lookups', place), fields)).toEqual(nothing);
    }
    expect((await fetch(addressOf('reports'), { method: 'HEAD' })).status).toBe(404);
    expect((await fetch(addressOf('reports'), { method: 'PUT' })).status).toBe(405);
    expect((await fetch(addressOf('messages'))).status).toBe(404);
    expect(await countReports()).toBe(before);
  });

  it('get 404 from an address that the route does not allow', async () => {
    const strict = `${route}-s`;
    await add(strict, { settings: { callbackAddresses: ['192.0.2.1'] } });
    const api = await startCutOffApi({ trustProxy: true });
    try {
      const address = addressOf('reports', { of: strict, at: api.api.url });
      const query = new URLSearchParams(reportFields([{ id: newProviderId(), status: 404 }])).toString();
      const from = async (forwarded: string) => {
        const response = await fetch(`${address}?${query}`, { headers: { 'x-forwarded-for': forwarded } });
        return response.status;
      };
      expect(await from('192.0.2.2')).toBe(404);
      expect(await from('192.0.2.1')).toBe(200);
      expect(await from('::ffff:192.0.2.1')).toBe(200);
    } finally {
      await api.stop();
    }
  });

  it('get 404 with the former secret after its end, and not before', async () => {
    const changing = `${route}-d`;
    const fresh = randomBytes(24).toString('base64url');
    const known = (until: number) =>
      sealCredentials(secretsKey(), changing, {
        ...{ token: 'token-of-test', callbackSecret: fresh },
        former: { callbackSecret: secret, until },
      });
    await add(changing, { credentials: known(Date.now() + 3_600_000) });
    const answered = async (by: string) => {
      const fields = reportFields([{ id: newProviderId(), status: 404 }]);
      return (await callBack(addressOf('reports', { of: changing, by }), fields)).status;
    };
    await eventually(
      () => answered(fresh),
      (status) => status === 200,
    );
    expect(await answered(secret)).toBe(200);
    expect(await answered(otherSecret)).toBe(404);
    await changeRoute(database(), changing, { credentials: known(Date.now() - 1) });
    await eventually(
      () => answered(secret),
      (status) => status === 404,
    );
    expect(await answered(fresh)).toBe(200);
  });

  it('find no secret, number or text in the log', async () => {
    let lines = '';
    const sink = new Writable({
      write(chunk: Buffer, _, done) {
        lines += chunk.toString();
        done();
      },
    });
    const api = await startOwnApi({ log: pino({ level: 'trace' }, sink) });
    const phone = newNumber();
    const at = api.url;
    await callBack(addressOf('reports', { at }), reportFields([{ id: newProviderId(), status: 404 }]));
    await callBack(addressOf('reports', { at }), { MsgId: 'bad id', to: '48500100200' });
    const tell = { sms_from: phone.slice(1), sms_to: '1', sms_text: 'poufne' };
    await callBack(addressOf('replies', { at }), tell, 'POST');
    await callBack(addressOf('replies', { at }), { sms_text: 'poufne' }, 'POST');
    await api.stop();
    expect(lines).toContain('/callbacks/:route/:secret/reports');
    expect(lines).toContain('a callback was not understood');
    for (const hidden of [secret, '48500100200', phone.slice(1), 'poufne'])
      expect(lines).not.toContain(hidden);
  });
});

describe('without the database', () => {
  it('nothing is answered OK, so that the provider comes again', async () => {
    const cut = await startCutOffApi();
    try {
      const address = addressOf('reports', { at: cut.api.url });
      const fields = reportFields([{ id: newProviderId(), status: 404 }]);
      expect(await callBack(address, fields)).toEqual(OK);
      cut.database.cut();
      expect(await callBack(address, fields)).toMatchObject({ status: 503, text: 'unavailable' });
    } finally {
      await cut.stop();
    }
  });
});
