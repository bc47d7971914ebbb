import { expect, it } from 'vitest';
import type { ApiAnswer } from '../support/client.ts';
import { books, database, newAccount, type TestAccount } from '../support/factories.ts';
import { accessCases, type AccessCase, type AccessCases, type Belongings } from './access/cases.ts';
import { everythingOf } from './access/everything.ts';

/**
 * Two accounts that have all the same: numbers, names, references, texts and keys of requests. Whatever does not ask whose a thing is then
 * shows, counts, changes or takes one too many. Only ids, tokens and domains tell the two apart.
 */
interface Twin {
  account: TestAccount;
  own: Belongings;
}

const ID = /\b[a-z]{2,4}_[0-9a-z]{26}\b/g;
const INSTANT = /\d{4}-\d\d-\d\dT[\d:.]+Z/g;

async function newTwin(resource: AccessCases): Promise<Twin> {
  const account = await newAccount({ senders: ['OFIARA'], defaultSender: 'OFIARA', balance: 777 });
  return { account, own: await resource.prepare(account) };
}

/** An answer without what is each account's own by nature. */
function shapeOf({ status, text }: ApiAnswer, { own, account }: Twin): string {
  let shown = text;
  for (const [name, value] of Object.entries({ ...own, account: account.id }))
    shown = shown.replaceAll(value, `<${name}>`);
  return `${status} ${shown
    .replaceAll(ID, (id) => `<${id.split('_')[0]!}>`)
    .replaceAll(INSTANT, '<instant>')
    .replaceAll(/"(webhook_secret|public_key)":"[^"]*"/g, '"$1":"<secret>"')
    .replaceAll(/@d\d+-[0-9a-z]{10}\.example/g, '@<domain>')
    .replaceAll(/\/([lo])\/\w+/g, '/$1/<token>')}`;
}

/** The ids of an account and of everything that it has, and whatever else another has not. */
async function idsOf({ account, own }: Twin, tables: readonly string[], other: Twin): Promise<string[]> {
  const rows = Object.values(await everythingOf(account, tables)).flat();
  const named = rows.flatMap((row) => row.match(ID) ?? []);
  const things = Object.entries(own).filter(([name, value]) => other.own[name] !== value);
  return [...new Set([account.keyId, ...named, ...things.map(([, value]) => value)])];
}

/** How much an account has of what, and how much money: the second is not charged less than the first. */
async function sizesOf({ account }: Twin, tables: readonly string[]) {
  const rows = Object.entries(await everythingOf(account, tables));
  const sizes = rows.map(([table, { length }]) => `${table} ${length}`);
  return { sizes, books: await books(account.id) };
}

const ORDER = ['POST', 'PUT', 'PATCH', 'DELETE'];
const depth = (route: string) => route.split('/').length;

/** What changes something, what it hangs on last. */
function changesOf({ cases }: AccessCases): [string, AccessCase][] {
  const placeOf = (route: string) => ORDER.indexOf(route.split(' ')[0]!) * 10 - depth(route);
  return Object.entries(cases)
    .filter(([route]) => !route.startsWith('GET '))
    .sort(([one], [other]) => placeOf(one) - placeOf(other));
}

const readsOf = ({ cases }: AccessCases) =>
  Object.entries(cases).filter(([route]) => route.startsWith('GET '));

it.each(accessCases.map((resource) => [Object.keys(resource.cases).join(', '), resource] as const))(
  'each of two accounts with all the same sees and changes its own: %s',
  async (_, resource) => {
    const { tables } = resource;
    const first = await newTwin(resource);
    const reads = readsOf(resource);
    const alone: string[] = [];
    for (const [, read] of reads) alone.push(shapeOf(await read.call(first.account, first.own), first));

    const had = await sizesOf(first, tables);

    const second = await newTwin(resource);
    expect(await sizesOf(second, tables)).toEqual(had);
    for (const [twin, other] of [
      [first, second],
      [second, first],
    ] as const) {
      const foreign = await idsOf(other, tables, twin);
      for (const [index, [route, read]] of reads.entries()) {
        const answer = await read.call(twin.account, twin.own);
        expect(`${route}: ${shapeOf(answer, twin)}`).toBe(`${route}: ${alone[index]!}`);
        for (const id of foreign) expect(answer.text).not.toContain(id);
      }
    }

    for (const [route, change] of changesOf(resource)) {
      const shapes: string[] = [];
      // The younger one before the older: whichever a statement finds first, one of the two is the wrong one.
      for (const [twin, other] of [
        [second, first],
        [first, second],
      ] as const) {
        const before = await everythingOf(other.account, tables);
        const answer = await change.call(twin.account, twin.own);
        expect(answer.status, route).toBeLessThan(300);
        expect(await everythingOf(other.account, tables), route).toEqual(before);
        shapes.push(shapeOf(answer, twin));
      }
      expect(shapes[0], route).toBe(shapes[1]);
    }
  },
);

it('each of two accounts with all the same has its money, and its own answers to a key', async () => {
  const accounts = [await newAccount({ balance: 1_000 }), await newAccount({ balance: 1_000 })];
  const send_at = new Date(Date.now() + 86_400_000).toISOString();
  const message = { to: ['500100777', '500100778'], text: 'x', reference: 'r', send_at };
  const answers = [];
  for (const [index, { id, api }] of accounts.entries()) {
    const answer = await api.send(message, 'klucz');
    const again = await api.send(message, 'klucz');
    expect([answer.status, again.text]).toEqual([201, answer.text]);
    answers.push(answer);
    const balances = await database()<{ balance: number }[]>`
      select balance_grosze::int as balance from accounts where id = any(${accounts.map((one) => one.id)}) order by id`;
    expect(balances.map(({ balance }) => balance)).toEqual(index === 0 ? [980, 1_000] : [980, 980]);
    expect((await database()`select from ledger_entries where account_id = ${id}`).count).toBe(3);
  }
  const ids = answers.flatMap(({ body }) => body.messages.map(({ id }) => id));
  expect(new Set(ids).size).toBe(4);

  // Of two alike a cancel gives back what its own cost, to whose it was.
  expect((await accounts[1]!.api.delete(`/v1/messages/${ids[2]!}`)).status).toBe(200);
  expect((await accounts[1]!.api.get('/v1/account')).body).toMatchObject({ balance_grosze: 990 });
  expect((await accounts[0]!.api.get('/v1/account')).body).toMatchObject({ balance_grosze: 980 });
});
