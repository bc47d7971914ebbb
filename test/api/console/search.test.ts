import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../../db/ids.ts';
import { type Colleague, type ConsoleUnderTest, newStaff, openConsole } from '../../support/console.ts';
import { database, newAccount } from '../../support/factories.ts';

let opened: ConsoleUnderTest;
let ala: Colleague;
let account: string;
const message = newId('msg');
beforeAll(async () => {
  opened = await openConsole();
  ala = await newStaff(opened, 'support');
  ({ id: account } = await newAccount({ senders: [`S${message.slice(-8)}`] }));
  await database()`
    insert into messages (id, account_id, request_id, status, accepted_as, recipient, text, parts, cost_grosze, give_up_at, route,
                          reference, idx)
    values (${message}, ${account}, 'req_x', 'failed', 'queued', '+48600100777', 'x', 1, 15, now(), 'simulator', ${message.slice(-9)},
            ${message.slice(-9)})`;
});
afterAll(() => opened.api.stop());

const searched = (q: string) => ala.browser.get(`/console/search?${new URLSearchParams({ q }).toString()}`);

describe('the search of the console', () => {
  it.each([
    [
      'a message by its id in a line',
      () => `refused ${message.toUpperCase()}.`,
      () => `/console/messages/${message}`,
    ],
    ['a message by two of its names', () => message.slice(-9), () => `/console/messages/${message}`],
    ['an account', () => account, () => `/console/accounts/${account}`],
    [
      'a sender',
      () => `S${message.slice(-8)}`,
      () => `/console/commands/senders.list?account=${account}&show=yes`,
    ],
  ])('opens the only thing found: %s', async (_, q, to) => {
    expect((await searched(q())).to).toBe(to());
  });

  it('lists several, with the number masked, each with its page', async () => {
    await database()`insert into blacklist (account_id, msisdn, reason) values (${account}, '+48600100777', 'manual')`;
    const { status, text } = await searched('600 100 777');
    expect(status).toBe(200);
    expect(text).toContain(`href="/console/messages/${message}"`);
    expect(text).toContain('+48*****777');
    expect(text).not.toContain('+48600100777');
  });

  it('says so where nothing is found, or nothing is sought', async () => {
    expect((await searched(newId('msg'))).text).toContain('None.');
    expect((await searched(' ')).text).toContain('paste what a customer quotes');
    expect((await searched('x'.repeat(10_001))).status).toBe(422);
  });
});
