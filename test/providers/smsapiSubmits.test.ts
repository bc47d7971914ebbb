import { describe, expect, it } from 'vitest';
import { errorAnswer, json } from '../smsapi/provider.ts';
import { CALLBACK_URL, leaves, openClient, SECRET, sms } from './smsapiClient.ts';

describe('a message to SMSAPI.pl', () => {
  it('is sent whole, with our reference and the address for reports', async () => {
    const { provider, client } = await openClient();
    const part = sms({ text: 'Zażółć gęślą jaźń, 100 € & 50%+1 = „tak” 🙂\nŁódź' });
    const answer = await client.submit(part, leaves);

    expect(answer).toEqual({ kind: 'accepted', providerMessageId: provider.taken[0]?.id });
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
    const { provider, client } = await openClient();
    await client.submit(sms({ sender: null }), leaves);
    const { client: twoWay } = await openClient({ sender: '2way' }, { provider });
    await twoWay.submit(sms(), leaves);
    expect(provider.taken.map(({ from }) => from)).toEqual([null, '2way']);
  });

  it('is fast where it has priority and the route pays for that', async () => {
    const { provider, client } = await openClient();
    const { client: fast } = await openClient({ fastPriority: true }, { provider });
    await fast.submit(sms({ priority: true }), leaves);
    await fast.submit(sms(), leaves);
    await client.submit(sms({ priority: true }), leaves);
    expect(provider.taken.map(({ form }) => form['fast'])).toEqual(['1', undefined, undefined]);
  });

  it('is flash where it was asked to be', async () => {
    const { provider, client } = await openClient();
    await client.submit(sms({ content: { flash: true } }), leaves);
    await client.submit(sms(), leaves);
    expect(provider.taken.map(({ form }) => form['flash'])).toEqual(['1', undefined]);
    // The provider takes no flash message with letters outside GSM-7.
    const answer = await client.submit(sms({ text: 'ż', content: { flash: true } }), leaves);
    expect(answer).toMatchObject({ kind: 'refused', reason: 'invalid_content', code: '17' });
  });

  it('has a validity that the provider takes, as near to its own as can be', async () => {
    const { provider, client } = await openClient();
    const hours = [0.01, 5, 72, 500];
    for (const h of hours) {
      const expiresAt = new Date(Date.now() + h * 3_600_000);
      expect(await client.submit(sms({ expiresAt }), leaves)).toMatchObject({ kind: 'accepted' });
    }
    const seconds = provider.taken.map(({ form }) => Number(form['expiration_date']) - Date.now() / 1000);
    expect(seconds.map((s) => Math.round(s / 60))).toEqual([60, 300, 72 * 60 - 10, 72 * 60 - 10]);
  });

  it('is refused by us where the provider would replace a part of its text', async () => {
    const { provider, client } = await openClient();
    const answer = await client.submit(sms({ text: 'Witaj [%imie%]' }), leaves);
    expect(answer).toEqual({ kind: 'refused', reason: 'invalid_content', code: 'placeholder' });
    expect(await client.submit(sms({ text: 'rabat [50 %], 10%]' }), leaves)).toMatchObject({
      kind: 'accepted',
    });
    expect(provider.taken).toHaveLength(1);
  });

  it('stays here when it must not leave', async () => {
    const { provider, client } = await openClient();
    expect(await client.submit(sms(), () => Promise.resolve(false))).toEqual({ kind: 'withheld' });
    await expect(client.submit(sms(), () => Promise.reject(new Error('database away')))).rejects.toThrow(
      'database away',
    );
    expect(provider.taken).toHaveLength(0);
    expect(client.state().inFlight).toBe(0);
  });

  it('cut into another number of parts than billed is logged, without what it says', async () => {
    const { client, errors } = await openClient();
    await client.submit(sms({ text: 'tajne', parts: 2 }), leaves);
    expect(errors.map(String).join()).toMatch(/cut into 1 parts by the provider, billed as 2/);
    expect(errors.map(String).join()).not.toContain('tajne');
  });

  it('whose answer names its end already is reported at once', async () => {
    const { provider, client, reports } = await openClient();
    provider.next((response) =>
      json(response, 200, { count: 1, list: [{ id: 'X1', status: 'REJECTED', error: null }] }),
    );
    const part = sms();
    expect(await client.submit(part, leaves)).toEqual({ kind: 'accepted', providerMessageId: 'X1' });
    expect(reports).toEqual([
      { providerMessageId: 'X1', reference: part.reference, state: 'rejected', errorCode: null },
    ]);
  });

  it('given twice is not sent twice: the second is unanswered', async () => {
    const { provider, client } = await openClient();
    const part = sms();
    await client.submit(part, leaves);
    expect(await client.submit(part, leaves)).toEqual({ kind: 'unanswered', code: '53' });
    expect(provider.taken).toHaveLength(1);
    expect(client.state().sessions).toBe(1);
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
    [103, { kind: 'broken' }],
    [424_242, { kind: 'unanswered' }],
  ];
  it.each(codes)('%i says what is to be done', async (code, expected) => {
    const { provider, client } = await openClient();
    provider.next(errorAnswer(code));
    expect(await client.submit(sms(), leaves)).toEqual({ ...expected, code: String(code) });
  });

  it('is read as the route wants it', async () => {
    const { provider, client: own } = await openClient({
      errors: { 999: 'later:30', 103: 'refused', 13: 'unknown' },
    });
    provider.next(errorAnswer(999), errorAnswer(103), errorAnswer(13));
    expect(await own.submit(sms(), leaves)).toEqual({ kind: 'later', retryAfterMs: 30_000, code: '999' });
    expect(await own.submit(sms(), leaves)).toMatchObject({ kind: 'refused', reason: 'network_refused' });
    expect(await own.submit(sms(), leaves)).toMatchObject({ kind: 'unanswered', code: '13' });
  });

  it('is the entry’s own where the list has one', async () => {
    const { provider, client } = await openClient();
    provider.next((response) => json(response, 200, { count: 1, list: [{ id: 'X', error: 13 }] }));
    expect(await client.submit(sms(), leaves)).toMatchObject({ kind: 'refused', code: '13' });
  });
});
