import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../../db/ids.ts';
import { addDays, polishDay, startOfDay } from '../../../domain/calendar.ts';
import { books, database, newAccount } from '../../support/factories.ts';
import { newPerson, type PanelUnderTest, type Person, type Seen, startPanel } from '../../support/panel.ts';

let panel: PanelUnderTest;
beforeAll(async () => {
  panel = await startPanel();
});
afterAll(() => panel.api.stop());

const DAY_MS = 86_400_000;

interface Entry {
  kind: string;
  amount_grosze: number;
  test_credits?: number;
  subject_kind?: string;
  subject_id?: string;
  reference?: string;
  note?: string;
  /** Days ago; now unless said. */
  ago?: number;
}

async function enter(account: string, { ago = 0, ...entry }: Entry): Promise<void> {
  const sql = database();
  const { subject_kind: kind, subject_id: id } = entry;
  if (kind === 'lookup')
    await sql`insert into number_lookups ${sql({ id: id!, account_id: account, msisdn: '+48500100200', route: 'r', cost_grosze: 5 })}`;
  if (kind === 'statement')
    await sql`insert into statements ${sql({ id: id!, account_id: account, month: '2026-01-01', amount_grosze: entry.amount_grosze, due_at: new Date() })}`;
  if (kind === 'message')
    await sql`
      insert into messages (id, account_id, request_id, status, accepted_as, recipient, text, parts, cost_grosze, give_up_at, route)
      values (${id!}, ${account}, ${newId('req')}, 'failed', 'queued', '+48600100200', 'x', 1, 15, now(), 'r')
      on conflict do nothing`;
  const created_at = new Date(Date.now() - ago * DAY_MS);
  await sql`insert into ledger_entries ${sql({ ...entry, account_id: account, created_at })}`;
}

/** A payment of 100 PLN net, without its entry in the ledger. */
async function pay(account: string): Promise<{ id: string; reference: string }> {
  const sql = database();
  const id = newId('pay');
  const reference = `simulated:${id}`;
  await sql`insert into payments ${sql({
    ...{ id, account_id: account, net_grosze: 10_000, vat_grosze: 2_300, gross_grosze: 12_300, reference },
    ...{ buyer: '{}', processor: 'simulated', state: 'paid', paid_at: new Date() },
  })}`;
  return { id, reference };
}

/** Cells of a table's rows, as text. */
function rowsOf({ text }: Seen, label: string): string[][] {
  const [, table = ''] = text.split(`aria-label="${label}"`);
  const [, body = ''] = /<tbody>(.*?)<\/tbody>/s.exec(table) ?? [];
  const plain = (cell: string) =>
    cell
      .replaceAll(/<[^>]+>/g, ' ')
      .replaceAll(/\s+/g, ' ')
      .trim();
  return body
    .split('</tr>')
    .slice(0, -1)
    .map((row) => [...row.matchAll(/<t[hd].*?>(.*?)<\/t[hd]>/gs)].map(([, cell = '']) => plain(cell)));
}

const groszeOf = (text: string): number =>
  Math.round(
    Number(
      text
        .replace(/\s*zł$/, '')
        .replace(/\s/g, '')
        .replace(',', '.')
        .replace('−', '-'),
    ) * 100,
  );

/** Each entry as `what amount`. */
const entriesOf = (seen: Seen): string[] =>
  rowsOf(seen, 'Księga').map(([, what = '', amount = '']) => `${what} ${groszeOf(amount)}`);

const ledgerOf = ({ browser }: Person, query = '') => browser.get(`/panel/ledger?${query}`);

describe('the ledger', () => {
  it('says of every entry what it is, and links what it belongs to', async () => {
    const { id: account } = await newAccount({ balance: 50_000 });
    const person = await newPerson(panel, 'billing', account);
    const { id: payment, reference } = await pay(account);
    const message = newId('msg');
    const [lookup, statement] = [newId('hlr'), newId('st')];
    await database()`
      insert into payment_reversals (payment_id, id, kind, gross_grosze, net_grosze) values (${payment}, ${`re_${payment}`}, 'refund', 1230, 1000)`;
    const entries: [what: string, entry: Entry][] = [
      [`Doładowanie płatność ${reference}`, { kind: 'topup', amount_grosze: 10_000, reference }],
      ['Doładowanie przelew 17 <b>', { kind: 'topup', amount_grosze: 5_000, reference: 'przelew 17 <b>' }],
      [
        'Opłata wiadomość',
        { kind: 'charge', amount_grosze: -15, subject_kind: 'message', subject_id: message },
      ],
      [
        'Zwrot opłaty wiadomość',
        { kind: 'refund', amount_grosze: 15, subject_kind: 'message', subject_id: message },
      ],
      [
        `Opłata sprawdzenie numeru ${lookup}`,
        { kind: 'charge', amount_grosze: -5, subject_kind: 'lookup', subject_id: lookup },
      ],
      [
        'Zapłata rozliczenia rozliczenie',
        { kind: 'payment', amount_grosze: 700, subject_kind: 'statement', subject_id: statement },
      ],
      [
        `Zwrot wpłaty płatność simulated:re_${payment}`,
        { kind: 'payment_refund', amount_grosze: -1_000, reference: `simulated:re_${payment}` },
      ],
      [
        `Zwrot wpłaty się nie udał płatność simulated:re_${payment}:returned`,
        { kind: 'payment_refund', amount_grosze: 1_000, reference: `simulated:re_${payment}:returned` },
      ],
      [
        'Wpłata zakwestionowana simulated:dp_1',
        { kind: 'dispute', amount_grosze: -200, reference: 'simulated:dp_1' },
      ],
      ['Korekta za awarię', { kind: 'adjustment', amount_grosze: 300, note: 'za awarię' }],
    ];
    for (const [, entry] of entries) await enter(account, entry);
    const seen = await ledgerOf(person);
    const expected = entries.map(
      ([what, { amount_grosze: grosze }]) => `${what.replace('<b>', '&lt;b>')} ${grosze}`,
    );
    expect(entriesOf(seen)).toEqual(['Saldo początkowe 50000', ...expected].reverse());
    for (const path of [`messages/${message}`, `statements#${statement}`, `billing/${payment}`])
      expect(seen.text).toContain(`<a href="/panel/${path}">`);
    for (const about of [payment, reference]) {
      const found = entriesOf(await ledgerOf(person, `about=${encodeURIComponent(about)}`));
      expect(found).toHaveLength(about === payment ? 3 : 1);
    }
  });

  it('is filtered by days, kind and what it belongs to, and its sums agree with the balance', async () => {
    const { id: account } = await newAccount({ balance: 0 });
    const person = await newPerson(panel, 'owner', account);
    const message = newId('msg');
    const today = polishDay(Date.now());
    await enter(account, { kind: 'opening', amount_grosze: 0, test_credits: 1, ago: 401 });
    await enter(account, { kind: 'topup', amount_grosze: 10_000, ago: 400 });
    await enter(account, { kind: 'topup', amount_grosze: 5_000, reference: 'stary', ago: 60 });
    await enter(account, {
      kind: 'charge',
      amount_grosze: -20,
      subject_kind: 'message',
      subject_id: message,
      ago: 20,
    });
    await enter(account, {
      kind: 'charge',
      amount_grosze: 0,
      test_credits: -1,
      subject_kind: 'message',
      subject_id: newId('msg'),
      ago: 19,
    });
    await enter(account, { kind: 'refund', amount_grosze: 20, subject_kind: 'message', subject_id: message });
    const days = (from: number, to: number) => `from=${addDays(today, -from)}&to=${addDays(today, -to)}`;
    const table: [query: string, entries: string[]][] = [
      ['', ['Zwrot opłaty wiadomość 20', 'Opłata wiadomość 0', 'Opłata wiadomość -20']],
      [days(61, 19), ['Opłata wiadomość 0', 'Opłata wiadomość -20', 'Doładowanie stary 5000']],
      [`${days(61, 0)}&kind=topup`, ['Doładowanie stary 5000']],
      ['kind=refund', ['Zwrot opłaty wiadomość 20']],
      [`about=${message}`, ['Zwrot opłaty wiadomość 20', 'Opłata wiadomość -20']],
      ['about=stary', ['Doładowanie stary 5000']],
      [`about=stary&${days(30, 0)}`, []],
    ];
    for (const [query, entries] of table)
      expect([query, entriesOf(await ledgerOf(person, query))]).toEqual([query, entries]);

    for (const [from, to] of [
      [30, 0],
      [61, 21],
      [61, 0],
      [365, 19],
    ] as const) {
      const rows = rowsOf(await ledgerOf(person, days(from, to)), 'Podsumowanie okresu');
      const [first, last] = [rows[0]!, rows.at(-1)!];
      const [sums, credits] = [2, 3].map((column) =>
        rows.slice(1, -1).reduce((sum, row) => sum + (column === 2 ? groszeOf(row[2]!) : Number(row[3])), 0),
      );
      expect(groszeOf(first[2]!) + sums!).toBe(groszeOf(last[2]!));
      expect(Number(first[3]) + credits!).toBe(Number(last[3]));
      const [{ balance } = { balance: -1 }] = await database()<{ balance: number }[]>`
        select coalesce(sum(amount_grosze), 0)::bigint as balance from ledger_entries
         where account_id = ${account} and created_at < ${new Date(startOfDay(addDays(today, 1 - to)))}`;
      expect(groszeOf(last[2]!)).toBe(balance);
      if (to === 0) expect(balance).toBe((await books(account)).balance);
    }
  });

  it('comes in pages, and whole as a table of the same filter, without formulas', async () => {
    const { id: account } = await newAccount({ balance: 100 });
    const person = await newPerson(panel, 'billing', account);
    // Of one transaction, and so of one time.
    await database()`
      insert into ledger_entries (account_id, kind, amount_grosze, note)
      select ${account}, 'adjustment', -n, '=1+' || n from generate_series(1, 1200) n`;
    const amounts = Array.from({ length: 1_200 }, (_, index) => String(index - 1_200));
    let path = '/panel/ledger?kind=adjustment';
    for (const start of [0, 50, 100]) {
      const seen = await person.browser.get(path);
      const shown = entriesOf(seen).map((entry) => entry.split(' ').at(-1));
      expect(shown).toEqual(amounts.slice(start, start + 50));
      path = /<a href="([^"]+)" rel="next">/.exec(seen.text)![1]!.replaceAll('&amp;', '&');
    }
    const { headers, text } = await ledgerOf(person, 'kind=adjustment&format=csv');
    expect(headers.get('content-disposition')).toBe('attachment; filename="ledger.csv"');
    const [header, ...lines] = text.trimEnd().split('\r\n');
    expect(header).toBe('id,created_at,kind,amount_grosze,test_credits,subject,payment,reference,note');
    expect(lines.map((line) => line.split(',')[3])).toEqual(amounts);
    expect(lines[0]!.endsWith(",'=1+1200")).toBe(true);
  });

  it.each([
    ...['kind=gift', 'from=2026-13-01', 'from=2026-02-02&to=2026-02-01', 'from=2020-01-01&to=2026-01-01'],
    'cursor=x',
  ])('asked for with %s is refused, as page and as file', async (query) => {
    const person = await newPerson(panel, 'owner');
    expect((await ledgerOf(person, query)).status).toBe(422);
    expect((await ledgerOf(person, `${query}&format=csv`)).status).toBe(400);
  });

  it('shows nothing of another account', async () => {
    const [mine, theirs] = [await newPerson(panel, 'owner'), await newAccount({ balance: 100 })];
    const { id: payment, reference } = await pay(theirs.id);
    const message = newId('msg');
    await enter(theirs.id, { kind: 'topup', amount_grosze: 10_000, reference });
    await enter(theirs.id, {
      kind: 'charge',
      amount_grosze: -15,
      subject_kind: 'message',
      subject_id: message,
    });
    // A reference that staff wrote: it makes no link to the payment of another account.
    await enter(mine.account, { kind: 'topup', amount_grosze: 70, reference });
    for (const about of [payment, message])
      expect(entriesOf(await ledgerOf(mine, `about=${about}`))).toEqual([]);
    expect(entriesOf(await ledgerOf(mine, `about=${reference}`))).toEqual([`Doładowanie ${reference} 70`]);
    const [{ id } = { id: 0 }] = await database()<{ id: number }[]>`
      select max(id) as id from ledger_entries where account_id = ${theirs.id}`;
    expect((await ledgerOf(mine, `cursor=${id}`)).text).not.toContain('Opłata wiadomość');
  });
});

describe('how long the balance lasts', () => {
  const charge = (grosze: number, ago: number): Entry => ({
    ...{ kind: 'charge', amount_grosze: -grosze, subject_kind: 'message', subject_id: newId('msg'), ago },
  });
  it.each([
    ['nothing was charged', 'prepaid', 5_000, [], null],
    ['charged long ago', 'prepaid', 5_000, [charge(1_000, 31)], null],
    ['charged for the first time today', 'prepaid', 4_000, [charge(1_000, 0)], '3 dni'],
    ['charged for ten days', 'prepaid', 5_000, [charge(500, 10), charge(500, 1)], '40 dni'],
    ['charged for longer than is counted', 'prepaid', 5_000, [charge(500, 90), charge(3_000, 29)], '15 dni'],
    ['used up', 'prepaid', 1_000, [charge(1_000, 2)], 'niecały dzień'],
    ['with credit', 'postpaid', 0, [charge(1_000, 10)], '90 dni'],
    ['with more than will be used', 'prepaid', 500_000, [charge(10, 10)], 'ponad rok'],
  ] as const)('of an account %s', async (_, billing, balance, charges, shown) => {
    const { id } = await newAccount({ balance, billing, creditLimit: billing === 'postpaid' ? 10_000 : 0 });
    const person = await newPerson(panel, 'billing', id);
    for (const entry of charges) await enter(id, entry);
    for (const path of ['/panel/overview', '/panel/ledger']) {
      const [, value = null] =
        /<dt>Wystarczy na<\/dt><dd>([^<]*)</.exec((await person.browser.get(path)).text) ?? [];
      expect([path, value]).toEqual([path, shown]);
    }
  });
});
