import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { safeError } from '../../telemetry/safeError.ts';
import { addSimulatedReply } from '../../db/routes/simulator.ts';
import { eventually } from '../support/eventually.ts';
import {
  listening,
  observedAccount,
  type Observed,
  type ObservedAccount,
  startObserved,
} from './observed.ts';

const INBOUND = '+48500900901';
const RECIPIENT = '+48511222333';
const TEXT = 'Bukiet dla pani Anieli czeka';
const REPLY = 'Odbiorę jutro o ósmej';
const SECRET_NOTE = 'tajna-notatka';

type Line = Record<string, unknown> & { msg: string; level: number };

let observed: Observed;
let account: ObservedAccount;
let messageId: string;
const secrets: string[] = [];

const linesOf = (process: { lines: readonly string[] }): Line[] =>
  process.lines.map((line) => JSON.parse(line) as Line);
const api = (): Line[] => linesOf(observed.started.api);
const worker = (): Line[] => linesOf(observed.started.worker);

/** Whatever goes right and wrong in a day: sends, replies, clicks, refusals, faults of the database, a deaf receiver. */
beforeAll(async () => {
  observed = await startObserved({ LOG_LEVEL: 'trace' });
  account = await observedAccount(observed, { inboundNumber: INBOUND });
  const { receiver, secret } = await listening(account, (call) => (call === 1 ? 500 : 200));
  secrets.push(secret, account.key, receiver.url.split('/').pop()!, observed.started.service.secretsKey);
  const { sql } = observed;

  await account.call('POST', '/v1/contacts', {
    msisdn: RECIPIENT,
    first_name: 'Aniela',
    fields: { uwaga: SECRET_NOTE },
  });
  await account.call('GET', `/v1/numbers/${RECIPIENT.slice(1)}/lookup`);
  await account.call('GET', `/v1/contacts?q=${encodeURIComponent(RECIPIENT)}`);
  await account.call('GET', `/v1/nowhere/${encodeURIComponent(RECIPIENT)}?text=${encodeURIComponent(TEXT)}`);
  await account.call('POST', '/v1/messages', { to: RECIPIENT, text: { [TEXT]: RECIPIENT } });
  // Both the API's insert and the worker's update fail with an error that has the whole row in its detail.
  await sql`alter table messages add constraint trial_draft check (status <> 'draft' or reference is distinct from 'trial') not valid`;
  expect(
    (await account.call('POST', '/v1/messages', { to: RECIPIENT, text: TEXT, reference: 'trial' })).status,
  ).toBe(500);
  await sql`alter table messages add constraint trial_sent check (status <> 'sent') not valid`;
  const { text } = await account.call('POST', '/v1/messages', {
    to: RECIPIENT,
    text: `${TEXT}: {{link:https://example.com/${SECRET_NOTE}}}`,
  });
  messageId = (JSON.parse(text) as { id: string }).id;
  await eventually(
    () => Promise.resolve(worker()),
    (lines) => lines.some(({ msg }) => msg.includes('could not be stored')),
  );
  await sql`alter table messages drop constraint trial_sent`;
  await receiver.until((calls) => calls.some(({ event }) => event.type === 'message.delivered'), 60_000);
  await fetch(observed.started.service.apiUrl + /s\.example(\/l\/\w+)/.exec(text)![1]!, {
    redirect: 'manual',
  });
  await addSimulatedReply(sql, { from: RECIPIENT, to: INBOUND, text: REPLY });
  await receiver.until((calls) => calls.some(({ event }) => event.type === 'message.received'), 60_000);
  await account.call('GET', `/v1/messages/${messageId}`);
  await eventually(
    () => Promise.resolve(api()),
    (lines) => lines.some((line) => line['messageId'] === messageId && line['method'] === 'GET'),
  );
  await receiver.close();
}, 180_000);
afterAll(() => observed.stop());

describe('the logs of a whole run, at their most talkative', () => {
  test('hold no number, text, name or secret', () => {
    const all = [...observed.started.api.lines, ...observed.started.worker.lines];
    expect(all.length).toBeGreaterThan(20);
    const hidden = [
      RECIPIENT.slice(1),
      '511222333',
      INBOUND.slice(1),
      'Bukiet',
      'Anieli',
      'Odbior',
      SECRET_NOTE,
      'Kwiaciarnia',
    ];
    for (const line of all) {
      for (const word of [...hidden, ...secrets])
        expect(line.includes(word), `${word} in ${line}`).toBe(false);
    }
  });

  test('API: every line about a request has its id, and its account and message where they are known', () => {
    const requests = api().filter(({ msg }) => msg === 'request' || msg === 'request failed');
    expect(requests.length).toBeGreaterThan(5);
    for (const line of requests) expect(line['requestId'], line.msg).toMatch(/^req_/);
    const known = requests.filter(({ route }) => String(route).startsWith('/v1/'));
    for (const line of known) expect(line['accountId']).toBe(account.id);
    const sends = requests.filter(({ messageId: id }) => id === messageId);
    expect(sends.map(({ method }) => method)).toEqual(['POST', 'GET']);
    const failed = requests.find(({ msg }) => msg === 'request failed')!;
    expect(failed).toMatchObject({ accountId: account.id, err: { code: '23514' } });
    expect(failed['messageId']).toMatch(/^msg_/);
  });

  test('worker: what is logged about an activity names message, request and account', () => {
    const stored = worker().filter(({ msg }) => msg.includes('could not be stored'));
    expect(stored[0]).toMatchObject({ messageId, accountId: account.id, err: { code: '23514' } });
    expect(stored[0]!['requestId']).toMatch(/^req_/);
    // Whose it is turns out in its course.
    const attempts = worker().filter(
      ({ activityType, msg }) =>
        activityType === 'deliverWebhook' && /^Activity (completed|failed)$/.test(msg),
    );
    expect(attempts.length).toBeGreaterThan(0);
    for (const line of attempts) expect(line).toMatchObject({ accountId: account.id });
    // From their first line on, before anything of them was looked up; but for one that came with the answer to a workflow task,
    // which the server says less about.
    const started = worker().filter(
      ({ msg, messageId: id, isLocal, activityType }) =>
        msg === 'Activity started' && id === messageId && isLocal !== true && activityType !== 'submitAtOnce',
    );
    expect(started.length).toBeGreaterThan(0);
    for (const line of started) expect(line).toMatchObject({ accountId: account.id });
    const local = worker().filter(
      ({ isLocal, messageId: id, msg }) =>
        isLocal === true && id === messageId && /^Activity (completed|failed)$/.test(msg),
    );
    expect(local.map(({ activityType }) => activityType)).toContain('charge');
    for (const line of local) {
      expect(line).toMatchObject({ accountId: account.id });
      expect(line['requestId']).toMatch(/^req_/);
    }
    const workflows = worker().filter((line) => line['workflowId'] === messageId);
    expect(workflows.length).toBeGreaterThan(0);
    for (const line of workflows) expect(line['messageId']).toBe(messageId);
  });
});

test('errors are logged without what they know of data', () => {
  const database = Object.assign(new Error('invalid input syntax for type integer: "Aniela, 48511222333"'), {
    ...{
      code: '22P02',
      detail: 'Failing row (Aniela)',
      parameters: ['Aniela'],
      query: 'select',
      table_name: 'messages',
    },
  });
  const logged = JSON.stringify(safeError(database));
  expect(logged).not.toMatch(/Aniela|511222333|select/);
  expect(logged).toContain('invalid input syntax');
  expect(logged).toContain('"table_name":"messages"');
  const cause = new Error('outer', { cause: new Error('to +48511222333') });
  expect(JSON.stringify(safeError(cause))).not.toContain('511222333');
  expect(safeError('to 48511222333')).toBe('to [number]');
  expect(safeError({ text: 'Aniela' })).toBe('object');
  expect(safeError(undefined)).toBe('undefined');
});
