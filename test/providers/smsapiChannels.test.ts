import { describe, expect, it } from 'vitest';
import { errorAnswer } from '../smsapi/provider.ts';
import { CALLBACK_URL, leaves, openClient, SECRET, sms } from './smsapiClient.ts';

const SMIL =
  '<smil><body><par dur="5s"><img src="https://cdn.example/żółw.png?a=1&amp;b=2"/></par></body></smil>';
const mms = (over: Parameters<typeof sms>[0] = {}) =>
  sms({ channel: 'mms', text: SMIL, content: { subject: 'Wiosna & lato' }, encoding: 'ucs2', ...over });
const call = (content: object = { voice: 'maja', tries: 3 }, over: Parameters<typeof sms>[0] = {}) =>
  sms({ channel: 'vms', text: 'Państwa wizyta jest jutro o 9:30.', content, ...over });
const REPORTS = `${CALLBACK_URL}/callbacks/smsapi/${SECRET}/reports`;

describe('an MMS to SMSAPI.pl', () => {
  it('goes to mms.do with subject and SMIL as they are, and our reference', async () => {
    const { provider, client, errors } = await openClient();
    const part = mms();
    const answer = await client.submit(part, leaves);
    expect(answer).toEqual({ kind: 'accepted', providerMessageId: provider.taken[0]?.id });
    expect(provider.calls.filter(({ method }) => method === 'POST')).toHaveLength(1);
    expect(provider.taken[0]?.path).toBe('/mms.do');
    expect(provider.taken[0]?.form).toEqual({
      to: '48500100200',
      subject: 'Wiosna & lato',
      smil: SMIL,
      format: 'json',
      details: '1',
      idx: part.reference.replace('msg_', 'msg').replace('/0', 'p0'),
      check_idx: '1',
      notify_url: REPORTS,
    });
    expect(errors).toEqual([]);
  });

  it.each([
    ['more than 300 kB', { text: `<smil>${' '.repeat(300_000)}</smil>` }, '21', 'invalid_content'],
    ['a phone abroad', { destination: '+4915112345678' }, '32', 'not_permitted'],
  ])('with %s is refused, and the route goes on', async (_, over, code, reason) => {
    const { client } = await openClient();
    expect(await client.submit(mms(over), leaves)).toEqual({ kind: 'refused', reason, code });
    expect(client.state().failures).toBe(0);
  });

  it('on an account without MMS is refused, and SMS go on by the route', async () => {
    const { provider, client } = await openClient();
    provider.channels = [];
    const refused = { kind: 'refused', reason: 'not_permitted', code: '110' };
    for (const part of [mms(), mms(), call()]) expect(await client.submit(part, leaves)).toEqual(refused);
    expect(client.state()).toMatchObject({ sessions: 1, failures: 0 });
    expect(await client.submit(sms(), leaves)).toMatchObject({ kind: 'accepted' });
  });
});

describe('a call by SMSAPI.pl', () => {
  it('goes to vms.do with its text, voice, tries and the number that is shown', async () => {
    const { provider, client } = await openClient();
    const part = call({ voice: 'maja', tries: 3 }, { sender: '+48221234567' });
    expect(await client.submit(part, leaves)).toMatchObject({ kind: 'accepted' });
    expect(provider.taken[0]?.path).toBe('/vms.do');
    expect(provider.taken[0]?.form).toEqual({
      to: '48500100200',
      from: '48221234567',
      tts: part.text,
      tts_lector: 'maja',
      try: '3',
      interval: '300',
      format: 'json',
      details: '1',
      idx: part.reference.replace('msg_', 'msg').replace('/0', 'p0'),
      check_idx: '1',
      notify_url: REPORTS,
    });
  });

  it('waits between tries as long as the route says, and is never an SMS of the route’s own sender', async () => {
    const { provider, client } = await openClient({ callIntervalSeconds: 1800, sender: '2way' });
    await client.submit(call({ voice: 'ewa', tries: 6 }, { sender: null }), leaves);
    expect(provider.taken[0]?.form).toMatchObject({ try: '6', interval: '1800', tts_lector: 'ewa' });
    expect(provider.taken[0]?.from).toBeNull();
  });

  it.each([
    [15.5, 300, 6, '4'],
    [15.5, 1800, 6, '1'],
    [0, 300, 6, '1'],
    [72 * 60, 1800, 6, '6'],
  ])(
    'that ends in %d minutes, tries %i s apart, %i of them: ordered are %s',
    async (minutes, callIntervalSeconds, tries, ordered) => {
      const { provider, client } = await openClient({ callIntervalSeconds });
      const expiresAt = new Date(Date.now() + minutes * 60_000);
      await client.submit(call({ voice: 'ewa', tries }, { expiresAt }), leaves);
      expect(provider.taken[0]?.form).toMatchObject({ try: ordered });
    },
  );

  it('at night, or with repeats that reach into it, comes again until it is taken', async () => {
    const { provider, client } = await openClient();
    provider.minuteOfDay = () => 21 * 60 + 40;
    expect(await client.submit(call({ voice: 'ewa', tries: 1 }), leaves)).toMatchObject({ kind: 'accepted' });
    const answer = await client.submit(call({ voice: 'ewa', tries: 6 }), leaves);
    expect(answer).toEqual({ kind: 'later', retryAfterMs: 600_000, code: '51' });
    expect(client.state().failures).toBe(0);
  });

  it.each([
    [31, { kind: 'refused', reason: 'invalid_content' }],
    [8, { kind: 'refused', reason: 'invalid_content' }],
    [52, { kind: 'later', retryAfterMs: 60_000 }],
  ])('answered with error %i', async (code, expected) => {
    const { provider, client } = await openClient();
    provider.next(errorAnswer(code));
    expect(await client.submit(call(), leaves)).toEqual({ ...expected, code: String(code) });
  });

  it('whose error an SMS would take another way', async () => {
    const { provider, client } = await openClient();
    provider.next(errorAnswer(110), errorAnswer(51));
    expect(await client.submit(sms(), leaves)).toEqual({ kind: 'broken', code: '110' });
    expect(await client.submit(sms(), leaves)).toEqual({ kind: 'broken', code: '51' });
  });
});
