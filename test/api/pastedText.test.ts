import { describe, expect, inject, it } from 'vitest';
import { newEarlierAccount } from '../support/earlierClient.ts';
import { database, newAccount } from '../support/factories.ts';
import { visit } from '../support/links.ts';
import { mcpClient } from '../support/mcpClient.ts';
import { refusal } from './refusal.ts';

const storedTexts = async (accountId: string) =>
  await database()<{ text: string; parts: number }[]>`
    select text, parts from messages where account_id = ${accountId} order by id`;

describe('text that is typed or pasted', () => {
  it.each([
    ['an invisible character of a web page', 'Twoja pacz\u200Bka \u200Eczeka\uFEFF', 'Twoja paczka czeka', 1],
    ['what keeps a signature together', 'Mit besten Grüßen\u200C', 'Mit besten Grüßen', 1],
    ['look-alikes of ASCII', '5 \u212Aelvin\u037E \u212B', '5 Kelvin; Å', 1],
    ['Devanagari, which joiners shape', 'र्\u200Dय क\u200C', 'र्\u200Dय क', 1],
    ['soft hyphens of a document', 'przy\u00ADpomnie\u00ADnie', 'przypomnienie', 1],
    ['letters of a Mac', 'Zażółć gęślą jaźń '.repeat(3).normalize('NFD'), 'Zażółć gęślą jaźń '.repeat(3), 1],
    ['line ends of Windows', 'linia\r\n'.repeat(11), 'linia\n'.repeat(11), 1],
    ['emoji', '👨‍👩‍👧 ❤️ 1️⃣ 🏴󠁧󠁢󠁷󠁬󠁳󠁿', '👨‍👩‍👧 ❤️ 1️⃣ 🏴󠁧󠁢󠁷󠁬󠁳󠁿', 1],
  ])('with %s is sent and billed as it looks, by every interface', async (_, given, shown, parts) => {
    const { id, key, api, v1 } = await newEarlierAccount();
    expect((await api.send({ to: '500100200', text: given })).status).toBe(201);
    expect((await v1.post('/v1/sms', { to: '500100201', message: given })).status).toBe(200);
    const { id: template_id } = (await api.post('/v1/templates', { name: 'a', body: given })).body;
    expect((await api.send({ to: '500100202', template_id })).status).toBe(201);
    const named = (await api.post('/v1/templates', { name: 'b', body: '{{A}}' })).body.id;
    expect((await api.send({ to: '500100203', template_id: named, params: { a: given } })).status).toBe(201);
    const assistant = await mcpClient(inject('service').apiUrl, key);
    await assistant.call('send_sms', { to: ['500100204'], text: given });
    await assistant.close();
    expect(await storedTexts(id)).toEqual(Array.from({ length: 5 }, () => ({ text: shown, parts })));
  });

  it('is the same send, however it was typed', async () => {
    const { api } = await newAccount();
    const first = await api.send({ to: '500100200', text: 'Żółw\nA' }, 'k');
    const again = await api.send({ to: '500100200', text: 'Żółw\u200B\r\nA'.normalize('NFD') }, 'k');
    expect([again.status, again.body.id]).toEqual([201, first.body.id]);
  });

  it('names one group, one field and one address', async () => {
    const { api } = await newAccount();
    await api.post('/v1/contacts', {
      msisdn: '500100200',
      groups: ['Klienci'],
      fields: { 'mia\u00ADsto': 'Ło\u0301dź\u200B' },
    });
    const contact = await api.post('/v1/contacts', { msisdn: '500100200', first_name: 'Ewa\uFEFF' });
    expect(contact.body).toMatchObject({ first_name: 'Ewa', fields: { miasto: 'Łódź'.normalize('NFC') } });
    expect((await api.post('/v1/groups', { name: 'Klienci\u200B' })).status).toBe(409);
    const sent = await api.send({
      to: 'group:Kli\u200Denci',
      text: '{{miasto\u200B}} {{link:https://sklep.pl/paczka\u200B}}',
    });
    expect(sent.status).toBe(201);
    const [link] = (await api.get('/v1/links')).body.data;
    expect((await visit(link!.token)).headers.get('location')).toBe('https://sklep.pl/paczka');
  });

  it.each([
    ['its host', 'https://sk\u200Blep.pl/a'],
    ['its path, first', 'https://sklep.pl/\u200Ba'],
    ['its path, as some programs break lines', 'https://sklep.pl/\u200Ca'],
    ['twice behind it', 'https://sklep.pl/a\u200B\u200B'],
    ['around it', '\uFEFFhttps://sklep.pl/a\u2060'],
    ['its scheme', 'https:\u00AD//sklep.pl/a'],
  ])('names the link that is seen, with an invisible character in %s', async (_, url) => {
    const { api } = await newAccount();
    expect((await api.send({ to: '500100200', text: `{{link:${url}}}` })).status).toBe(201);
    const [link] = (await api.get('/v1/links')).body.data;
    expect((await visit(link!.token)).headers.get('location')).toBe('https://sklep.pl/a');
    expect((await api.put('/v1/account/webhook', { url })).body.webhook_url).toBe('https://sklep.pl/a');
  });

  it('is found, whatever direction marks are around it', async () => {
    const { api } = await newAccount();
    await api.post('/v1/contacts', { msisdn: '500100200', last_name: 'Nowak\u200E', email: 'a@b.pl\u200B' });
    for (const q of ['\u200Enowak', '\u202A500100\u202C', 'a@b\u200B.pl'])
      expect((await api.get(`/v1/contacts?q=${encodeURIComponent(q)}`)).body.data).toMatchObject([
        { last_name: 'Nowak', email: 'a@b.pl' },
      ]);
  });

  it.each(['\u200B', ' \n\u00A0', '\u2800', '\u3164\u00AD\uFE0F'])('%j is blank', async (blank) => {
    const { api, v1 } = await newEarlierAccount();
    const to = '500100200';
    for (const [path, body, param] of [
      ['/v1/messages', { to, text: blank }, 'text'],
      ['/v1/voice', { to, text: blank }, 'text'],
      ['/v1/mms', { to, subject: blank, smil: '<smil/>' }, 'subject'],
      ['/v1/templates', { name: 'a', body: blank }, 'body'],
      ['/v1/templates', { name: blank, body: 'a' }, 'name'],
      ['/v1/groups', { name: blank }, 'name'],
      ['/v1/email', { to: 'a@b.pl', subject: blank, text: 'a' }, 'subject'],
      ['/v1/email', { to: 'a@b.pl', subject: 'a', text: blank }, 'html'],
    ] as const)
      expect(await api.post(path, body), path).toMatchObject(refusal(400, param));
    expect((await v1.post('/v1/sms', { to, message: blank })).status).toBe(422);
    const contact = { msisdn: to, first_name: blank.replace('\n', ''), fields: { a: blank } };
    expect((await api.post('/v1/contacts', contact)).body).toMatchObject({ first_name: null, fields: {} });
  });
});

it('an estimate, and the tool that counts parts, name the character that takes a text out of GSM-7', async () => {
  const { api, key } = await newAccount();
  const assistant = await mcpClient(inject('service').apiUrl, key);
  for (const [text, character, code_point, position] of [
    ['To jest 5\u00A0zł', '\u00A0', 'U+00A0', 10],
    ['I don’t', '’', 'U+2019', 6],
    ['€ e‑mail', '‑', 'U+2011', 4],
    ['a 😀', '😀', 'U+1F600', 3],
    ['I\u0333F\u0333', '\u0333', 'U+0333', 2],
    ['Nowa\u2028linia', '\u2028', 'U+2028', 5],
  ]) {
    const estimate = (await api.post('/v1/messages/estimate', { to: '500100200', text })).body;
    expect(estimate.messages).toMatchObject([{ non_gsm7: { character, code_point, position } }]);
    const { body } = await assistant.call('count_sms_parts', { text });
    expect(body['non_gsm7']).toMatchObject({ code_point, position });
  }
  expect((await assistant.call('count_sms_parts', { text: 'a\u200B' })).body['non_gsm7']).toBeNull();
  await assistant.close();
});
