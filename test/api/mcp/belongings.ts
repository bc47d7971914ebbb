import { newAccount, type TestAccount } from '../../support/factories.ts';

const later = new Date(Date.now() + 86_400_000).toISOString();
let keywords = 0;

/** An account with one of everything that a tool names. */
export async function withBelongings(): Promise<{ account: TestAccount; of: Record<string, string> }> {
  const account = await newAccount({ senders: ['SKLEP'] });
  const { api } = account;
  const sent = await api.send({
    to: '500100777',
    text: 'Tajne {{link:https://example.com/a}}',
    send_at: later,
  });
  const template = await api.post('/v1/templates', { name: 'Ofiara', body: 'Tajne' });
  const contact = await api.post('/v1/contacts', {
    msisdn: '500100778',
    first_name: 'Ofiara',
    groups: ['OFIARA'],
  });
  await api.post('/v1/blacklist', { msisdn: '500100779' });
  return {
    account,
    of: {
      message: sent.body.id,
      template: template.body.id,
      contact: contact.body.id,
      group: contact.body.groups[0]!.id,
      listed: '+48500100779',
      keyword: `MCP${process.pid % 10_000}${(keywords += 1)}`.slice(0, 10),
    },
  };
}
