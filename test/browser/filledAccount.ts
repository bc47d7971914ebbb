import { expect } from 'vitest';
import { newId } from '../../db/ids.ts';
import { giveDomain } from '../support/email.ts';
import { eventually } from '../support/eventually.ts';
import { database, newAccount, type TestAccount } from '../support/factories.ts';
import { sendLink, visit } from '../support/links.ts';
import { startReceiver } from '../support/webhookReceiver.ts';

/** Markup that would show itself, were it ever more than text. */
export const PLANTED = `"'><planted-x></planted-x><script>planted()</script>&lt;b&gt;`;
const NUMBER = '+48500100200';

/** An account with some of everything, hostile where people write. @returns ids by the kind of thing in the address of its page */
export async function filledAccount(): Promise<{ account: TestAccount; ids: Record<string, string> }> {
  const account = await newAccount({ senders: ['SKLEP'], verified: [NUMBER], inboundNumber: '+48799000123' });
  const { api, id } = account;
  const sql = database();
  await sql`update accounts set name = ${PLANTED.slice(0, 100)} where id = ${id}`;
  const domain = await giveDomain(id);
  const receiver = await startReceiver((call) => (call % 2 === 0 ? 500 : 200));
  await api.put('/v1/account/webhook', { url: receiver.url });

  const group = await api.post('/v1/groups', { name: PLANTED });
  const contact = {
    msisdn: NUMBER,
    first_name: PLANTED,
    last_name: PLANTED,
    fields: { miasto: PLANTED },
    groups: [PLANTED],
  };
  await api.post('/v1/contacts', contact);
  const template = await api.post('/v1/templates', { name: PLANTED, body: `${PLANTED} {{imie}}` });
  await api.post('/v1/blacklist', { msisdns: ['+48500100299'], reason: PLANTED });
  const sent = await api.accepted({ to: NUMBER, from: 'SKLEP', text: PLANTED, reference: PLANTED });
  const later = new Date(Date.now() + 86_400_000).toISOString();
  const scheduled = await api.accepted({ to: NUMBER, text: PLANTED, send_at: later });
  const link = await sendLink(account, `https://example.com/?${encodeURIComponent(PLANTED)}`);
  await visit(link.token);
  const email = await api.post('/v1/email', { to: `jan@${domain}`, subject: PLANTED, text: PLANTED });
  const reply = newId('in');
  await sql`
    insert into inbound_messages (id, route, provider_reference, sender, receiver, received_text, state, account_id, text, matched_by)
    values (${reply}, 'test', ${reply}, ${NUMBER}, '+48500600700', ${PLANTED}, 'matched', ${id}, ${PLANTED}, 'last_message')`;
  await eventually(
    () => Promise.resolve(receiver.calls.length),
    (calls) => calls > 1,
  );
  // All pages say what it has to pay.
  await sql`update accounts set billing_mode = 'postpaid' where id = ${id}`;
  const [paid, due] = [newId('st'), newId('st')];
  await sql`
    insert into statements (id, account_id, month, amount_grosze, due_at, paid_at)
    values (${paid}, ${id}, '2026-08-01', 1234567, now() - interval '60 days', now()),
           (${due}, ${id}, '2026-09-01', 10000, now() + interval '14 days', null)`;
  await sql`
    insert into statement_documents (statement_id, account_name, pdf, csv, made_at) values (${paid}, 'x', 'x', 'x', now())`;
  expect([group, template, email].map(({ status }) => status)).toEqual([201, 201, 200]);
  const delivery = (await api.get('/v1/account/webhook/deliveries')).body.data[0] as { id: string };
  const [found] = (await api.get('/v1/contacts')).body.data as { id: string }[];
  return {
    account,
    ids: {
      groups: group.body.id,
      contacts: found!.id,
      templates: template.body.id,
      messages: sent.id,
      scheduled: scheduled.id,
      links: link.token,
      emails: (email.body as unknown as { data: { id: string } }).data.id,
      replies: NUMBER,
      webhooks: delivery.id,
    },
  };
}
