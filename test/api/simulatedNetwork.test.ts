import { expect, it } from 'vitest';
import { newEarlierAccount } from '../support/earlierClient.ts';
import { eventually } from '../support/eventually.ts';
import { database } from '../support/factories.ts';

const PHONE = '+48500100200';
const SMIL = '<smil><body><par dur="5s"><img src="https://cdn.example.com/a.jpg"/></par></body></smil>';
const PLAIN = { options: null, priority: false };

/** What the simulated network was given of a message, part by part. */
const givenOf = (id: string, parts: number) =>
  eventually(
    () => database()`
      select channel, source, destination, encoding, content, options, priority from simulator_submits
       where reference like ${`${id}/%`} order by part`,
    (submits) => submits.length === parts,
  );

// By whichever door a message comes, its provider is given all that was asked for.
it.each([
  [
    '/v1/sms',
    { to: PHONE, message: 'Hej' },
    [{ ...PLAIN, channel: 'sms', encoding: 'ucs2', content: 'Hej', options: { ucs2: true } }],
  ],
  [
    '/v1/sms',
    { to: PHONE, message: 'Hej', encoding: 'gsm', flash: true },
    [{ ...PLAIN, encoding: 'gsm7', content: 'Hej', options: { flash: true } }],
  ],
  [
    '/v1/sms',
    { to: PHONE, message: 'Żółw', normalize: true },
    [{ ...PLAIN, encoding: 'gsm7', content: 'Zolw' }],
  ],
  [
    '/v1/mms',
    { to: PHONE, subject: 'Wiosna', smil: SMIL },
    [{ ...PLAIN, channel: 'mms', content: SMIL, options: { subject: 'Wiosna' } }],
  ],
  [
    '/v1/vms',
    { to: PHONE, tts: 'Dzień dobry', tts_lector: 'jan', tries: 6, from: '+48221234567' },
    [
      {
        ...{ channel: 'vms', source: '48221234567', destination: PHONE, priority: false },
        ...{ content: 'Dzień dobry', options: { voice: 'jan', tries: 6 } },
      },
    ],
  ],
  ['/v1/vms', { to: PHONE, tts: 'Hej' }, [{ content: 'Hej', options: { voice: 'ewa', tries: 1 } }]],
])('POST %s of the earlier interface with %j hands over all of it', async (path, body, given) => {
  const account = await newEarlierAccount({ senders: ['48221234567'] });
  const answer = await account.v1.post(path, body);
  expect(answer.status).toBe(200);
  expect(await givenOf(answer.body.data.messages[0]!.id, given.length)).toMatchObject(given);
});

it.each([
  [
    '/v1/mms',
    { to: PHONE, subject: 'Wiosna', smil: SMIL, from: 'SKLEP' },
    { ...PLAIN, channel: 'mms', source: 'SKLEP', content: SMIL, options: { subject: 'Wiosna' } },
  ],
  [
    '/v1/voice',
    { to: PHONE, text: 'Hej', voice: 'maja', tries: 3 },
    { ...PLAIN, channel: 'vms', source: null, content: 'Hej', options: { voice: 'maja', tries: 3 } },
  ],
  [
    '/v1/messages',
    { to: PHONE, text: 'Hej', priority: true },
    { channel: 'sms', encoding: 'gsm7', content: 'Hej', options: null, priority: true },
  ],
])('POST %s with %j hands over all of it', async (path, body, given) => {
  const account = await newEarlierAccount({ senders: ['SKLEP'] });
  const answer = await account.api.post(path, body);
  expect(answer.status).toBe(201);
  expect(await givenOf(answer.body.id, 1)).toMatchObject([given]);
});
