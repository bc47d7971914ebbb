import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { database, newKey } from '../../support/factories.ts';
import { newPerson, type PanelUnderTest, startPanel } from '../../support/panel.ts';

let panel: PanelUnderTest;
beforeAll(async () => {
  panel = await startPanel();
});
afterAll(() => panel.api.stop());

interface Entry {
  actor: string;
  action: string;
  account: string;
  details?: object;
  address?: string;
}

async function log({ actor, action, account, details = {}, address }: Entry): Promise<void> {
  const sql = database();
  await sql`
    with logged as (
      insert into audit_log (actor, action, account_id, details)
      values (${actor}, ${action}, ${account}, ${JSON.stringify(details)}::text::jsonb) returning id)
    insert into audit_addresses (audit_id, address)
    select id, ${address ?? null}::inet from logged where ${address !== undefined}`;
}

/** Cells of the rows, as text. */
function rowsOf(page: string): string[][] {
  const body = /<tbody>(.*?)<\/tbody>/s.exec(page)?.[1] ?? '';
  return body
    .split('</tr>')
    .slice(0, -1)
    .map((row) =>
      [...row.matchAll(/<td>(.*?)<\/td>/gs)].map(([, cell = '']) => cell.replaceAll(/<[^>]+>/g, '').trim()),
    );
}

describe('activity', () => {
  it('says who did what, in words and from where, and never which of the staff', async () => {
    const { browser, id, address, account } = await newPerson(panel, 'owner');
    const { keyId } = await newKey(account);
    await database()`update api_keys set label = 'Sklep', hint = 'pk_live_…abcd' where id = ${keyId}`;
    const by = (actor: string, action: string, details = {}, from?: string) =>
      log({ actor, action, account, details, ...(from === undefined ? {} : { address: from }) });
    await by(id, 'keys create', { label: 'Nowy <b>', hint: 'pk_live_…wxyz', mode: 'live' }, '198.51.100.7');
    await by(keyId, 'account settings', { sender_name: { from: 'A', to: 'B' } }, '198.51.100.8');
    await by('jan.kowalski', 'accounts set', {
      changes: { credit_limit: { from: 1, to: 2 } },
      note: 'tajne',
    });
    await by(id, 'members role', { address: 'x…@a.example', role: { from: 'reader', to: 'owner' } });
    await by('per_00000000000000000000000000', 'something new');
    const seen = await browser.get('/panel/activity');
    expect(rowsOf(seen.text).map(([, ...cells]) => cells)).toEqual([
      ['usunięta osoba', 'something new', ''],
      [address, 'Zmiana roli x…@a.example, podgląd → właściciel', ''],
      ['obsługa', 'Zmiana warunków konta', ''],
      ['klucz Sklep pk_live_…abcd', 'Zmiana ustawień konta', '198.51.100.8'],
      [address, 'Utworzenie klucza Nowy &lt;b>, pk_live_…wxyz', '198.51.100.7'],
    ]);
    expect(seen.text).not.toMatch(/kowalski|tajne|credit_limit/);
    await browser.post('/panel/language', { language: 'en' });
    const english = (await browser.get('/panel/activity')).text;
    expect(rowsOf(english)[2]!.slice(1)).toEqual(['support', 'Terms of the account changed', '']);
  });

  it('has what the panel changed, filtered by person and kind', async () => {
    const owner = await newPerson(panel, 'owner');
    const member = await newPerson(panel, 'developer', owner.account);
    await member.browser.post('/panel/keys', { label: 'Sklep', 'scope-read': 'on' });
    await owner.browser.post(`/panel/team/${member.id}/role`, { role: 'reader' });
    const what = async (query: string) =>
      rowsOf((await owner.browser.get(`/panel/activity${query}`)).text).map(([, who, did]) => [
        who,
        did!.split(' ').slice(0, 2).join(' '),
      ]);
    const [made, changed] = [
      [member.address, 'Utworzenie klucza'],
      [owner.address, 'Zmiana roli'],
    ];
    expect(await what('')).toEqual([changed, made]);
    expect(await what(`?person=${member.id}`)).toEqual([made]);
    expect(await what('?kind=people')).toEqual([changed]);
    expect(await what(`?kind=people&person=${member.id}`)).toEqual([]);
    expect(await what('?kind=constructor&person=x&cursor=-1')).toEqual([changed, made]);
  });

  it('comes in pages of 50, the latest first', async () => {
    const { browser, account } = await newPerson(panel, 'owner');
    await database()`
      insert into audit_log (actor, action, account_id) select 'jan', 'act ' || n, ${account} from generate_series(1, 120) n`;
    const seen: string[] = [];
    let path: string | undefined = '/panel/activity?kind=';
    for (let pages = 0; path !== undefined; pages += 1) {
      expect(pages).toBeLessThan(3);
      const { text } = await browser.get(path);
      seen.push(...rowsOf(text).map(([, , did]) => did!));
      path = /<a href="([^"]+)" rel="next">/.exec(text)?.[1]?.replaceAll('&amp;', '&');
    }
    expect(seen).toEqual(Array.from({ length: 120 }, (_, index) => `act ${120 - index}`));
  });

  it('is of the own account alone', async () => {
    const [mine, theirs] = [await newPerson(panel, 'owner'), await newPerson(panel, 'owner')];
    await log({ actor: theirs.id, action: 'keys create', account: theirs.account });
    for (const query of ['', `?person=${theirs.id}`, '?kind=keys'])
      expect((await mine.browser.get(`/panel/activity${query}`)).text).toContain('Nie ma takich wpisów.');
  });
});
