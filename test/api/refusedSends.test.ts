import { describe, expect, it } from 'vitest';
import { decided } from '../support/decided.ts';
import { books, newAccount } from '../support/factories.ts';
import { expectLinksToWork, rowsOf } from '../support/leftRows.ts';

const LINKS = '{{link:https://example.com/a}} {{opt_out}}';
const later = new Date(Date.now() + 86_400_000).toISOString();
const many = (count: number) => Array.from({ length: count }, (_, i) => `+48500${String(200_000 + i)}`);

describe('a send that cannot be paid', () => {
  it.each([
    ['nothing', { balance: 0 }],
    ['a grosz too little', { balance: 4_999 }],
    ['a credit limit a grosz too low', { balance: 0, billing: 'postpaid' as const, creditLimit: 4_999 }],
    ['a test credit too few', { mode: 'test' as const, balance: 0, testCredits: 499, verified: many(500) }],
  ])('leaves no row and starts no workflow: %s', async (_, wish) => {
    const account = await newAccount({ price: 10, ...wish });
    const before = await rowsOf(account);
    for (const key of [undefined, 'k']) {
      const answer = await account.api.send({ to: many(500), text: LINKS }, key);
      expect([answer.status, answer.body.error.code]).toEqual([402, 'insufficient_funds']);
      expect(await rowsOf(account)).toEqual(before);
    }
  });
});

describe('more sends at once than can be paid', () => {
  it('what is accepted has its links, of the rest nothing is left', async () => {
    const account = await newAccount({ balance: 100, price: 10 });
    const send = (i: number) =>
      account.api.send({ to: `+4850020000${i % 3}`, text: LINKS, send_at: later }, `k${i}`);
    const answers = await Promise.all(Array.from({ length: 30 }, (_, i) => decided(() => send(i))));
    for (const { status } of answers) expect([201, 402]).toContain(status);
    const sent = answers.filter(({ status }) => status === 201);
    expect(sent).toHaveLength(10);
    for (const answer of sent) await expectLinksToWork(answer);
    const recipients = new Set(sent.map(({ body }) => body.to)).size;
    expect(await rowsOf(account)).toMatchObject({
      ...{ messages: sent.length, message_links: sent.length, idempotency_keys: sent.length },
      ...{ tracked_links: recipients, opt_out_links: recipients, ledger_entries: 1 + sent.length },
    });
    const left = 100 - 10 * sent.length;
    expect(await books(account.id)).toMatchObject({ balance: left, ledger: left });
  });
});
