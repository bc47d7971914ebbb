import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { newId } from '../../../db/ids.ts';
import { eventually } from '../../support/eventually.ts';
import { database, newAccount, storedMessages } from '../../support/factories.ts';
import { using } from './using.ts';

const DOCUMENT = new URL('../../../docs/mcp.md', import.meta.url);
const later = new Date(Date.now() + 86_400_000).toISOString();

interface Answer {
  notice: string;
  next: string;
  confirm: string;
  reference: string;
  data: Record<string, string>[];
  messages: Record<string, string>[];
  [field: string]: unknown;
}

// Half of the agents give the model `structuredContent` alone: so does this one, which asks for nothing else.
it('does the ten tasks of the documentation by structured content alone', async () => {
  const account = await newAccount({ inboundNumber: '+48799000112', senders: ['SKLEP'] });
  await database()`
    insert into inbound_messages (id, route, provider_reference, sender, received_text, state, account_id, text, matched_by)
    values (${newId('in')}, 'x', ${account.id}, '+48500100300', 'Tak', 'matched', ${account.id}, 'Tak', 'last_message')`;
  const used: string[] = [];
  await using(account.key, async ({ call }) => {
    const ask = async (tool: string, args: Record<string, unknown> = {}): Promise<Answer> => {
      used.push(tool);
      return (await call(tool, args)).body as Answer;
    };
    // 1. What may I spend?
    expect(await ask('get_account')).toMatchObject({ balance_grosze: 10_000, tool_budget_grosze: null });
    // 2. Write down customers.
    const contacts = Array.from({ length: 11 }, (_, index) => ({
      msisdn: `5001006${10 + index}`,
      first_name: 'Ewa',
      groups: ['Klienci'],
    }));
    expect(await ask('upsert_contacts', { contacts: JSON.stringify(contacts) })).toMatchObject({
      created: 11,
    });
    // 3. What does a text cost?
    expect(await ask('count_sms_parts', { text: 'Cześć' })).toMatchObject({ parts: 1 });
    // 4. Send a campaign, once agreed.
    const campaign = { to: 'group:Klienci', text: 'Dzień dobry {{imie}}', from: 'SKLEP', send_at: later };
    const shown = await ask('send_sms', { ...campaign, dry_run: 'true' });
    expect(shown).toMatchObject({ dry_run: true, count: 11, total_cost_grosze: 110 });
    expect(shown.notice).toContain('Dzień dobry Ewa');
    const sent = await ask('send_sms', { ...campaign, confirm: shown.confirm });
    expect(sent).toMatchObject({ accepted: 11, statuses: { scheduled: 11 } });
    // 5. What became of it?
    const page = await ask('list_messages', { reference: sent.reference, limit: 3 });
    expect([page.data.length, typeof page['next_cursor']]).toEqual([3, 'string']);
    expect(await ask('get_message', { id: page.data[0]!['id'] })).toMatchObject({ status: 'scheduled' });
    // 6. Take it back.
    // As many at a time as there is time for.
    await eventually(
      async () => {
        await ask('cancel_message', { reference: sent.reference });
        return await storedMessages(account.id);
      },
      (all) => all.every(({ status }) => status === 'cancelled'),
    );
    // 7. Remind somebody, whatever happens to the connection.
    const reminder = { to: '500100620', text: 'Wizyta jutro', send_at: later };
    await ask('send_sms', reminder);
    expect(await ask('send_sms', reminder)).toMatchObject({ replayed: true });
    // 8. Read replies, and block who asks for it.
    const { data, notice } = await ask('list_replies', { unread: 'true', mark_read: 'true' });
    expect(notice).toContain('not instructions');
    expect(await ask('add_to_blacklist', { msisdn: data[0]!['from'] })).toMatchObject({ added: 1 });
    const nothing = await ask('add_to_blacklist', { msisdns: ['x', 'y'] });
    expect(nothing).toMatchObject({ added: 0, notice: expect.stringContaining('Nothing') as string });
    // 9. Sum up a month.
    const report = await ask('get_report', { group_by: 'status' });
    expect(report['totals']).toMatchObject({ messages: 12, cancelled: 11 });
    // 10. Keep to the day.
    expect(await ask('set_send_window', { send_window: '20:00-08:00' })).toMatchObject({
      send_window_means: expect.stringContaining('For the day it is "08:00-20:00"') as string,
    });
    expect(await ask('set_send_window', { send_window: '08:00-20:00' })).not.toHaveProperty(
      'send_window_means',
    );
    const wrong = await ask('send_sms', { to: '12', text: 'x' });
    expect(wrong.next).toBe('Correct `to` and call `send_sms` again.');
  });
  expect(await storedMessages(account.id)).toHaveLength(12);
  const tasks = readFileSync(DOCUMENT, 'utf8').match(/^\d+\. .*$/gm)!;
  expect(tasks).toHaveLength(10);
  for (const tool of used) expect(tasks.join()).toContain(`\`${tool}\``);
});
