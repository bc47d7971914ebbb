import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../../db/ids.ts';
import { database } from '../../support/factories.ts';
import { newPerson, type PanelUnderTest, type Person, startPanel } from '../../support/panel.ts';

const ROWS = 150;
const NAMES = [
  ...Array.from({ length: ROWS - 1 }, (_, n) => `Lista ${String(n).padStart(3, '0')}`),
  'Żółw_50%',
];

let panel: PanelUnderTest;
let person: Person;
const ids = {
  gr: NAMES.map(() => newId('gr'))
    .sort()
    .reverse(),
  tpl: NAMES.map(() => newId('tpl'))
    .sort()
    .reverse(),
};
beforeAll(async () => {
  panel = await startPanel();
  person = await newPerson(panel, 'owner');
  const sql = database();
  await sql`
    insert into contact_groups (id, account_id, name)
    select id, ${person.account}, name from unnest(${ids.gr}::text[], ${NAMES}::text[]) r (id, name)`;
  await sql`
    insert into templates (id, account_id, name, type, body)
    select id, ${person.account}, name, 'sms', 'x' from unnest(${ids.tpl}::text[], ${NAMES}::text[]) r (id, name)`;
});
afterAll(() => panel.api.stop());

describe.each([
  ['groups', '/panel/contacts/groups', 'gr', 'groups', 'Żadna grupa'],
  ['templates', '/panel/templates', 'tpl', 'template_id', 'Żaden szablon'],
] as const)('an account with many %s', (_, path, prefix, field, none) => {
  /** Indexes of the names that a page lists. */
  async function listed(address: string): Promise<{ rows: number[]; next: string | undefined }> {
    const { text } = await person.browser.get(address);
    const links = [...text.matchAll(new RegExp(`<th scope="row"><a href="${path}/(\\w+)">`, 'g'))];
    const next = /<a href="([^"]+)" rel="next">/.exec(text)?.[1]?.replaceAll('&amp;', '&');
    return { rows: links.map(([, id]) => ids[prefix].indexOf(id!)), next };
  }

  it('has them in pages by name', async () => {
    const first = await listed(path);
    const second = await listed(first.next!);
    expect([...first.rows, ...second.rows]).toEqual(NAMES.map((__, index) => index));
    expect([first.rows.length, second.next]).toEqual([100, undefined]);
  });

  it.each([
    ['zolw_', [ROWS - 1]],
    ['LISTA 03', [30, 31, 32, 33, 34, 35, 36, 37, 38, 39]],
    ['0%', [ROWS - 1]],
    ['%', [ROWS - 1]],
    ['brak', []],
    ['\0', []],
  ] as [string, number[]][])('finds them by %j in the name', async (q, rows) => {
    const address = `${path}?${new URLSearchParams({ q }).toString()}`;
    expect(await listed(address)).toEqual({ rows, next: undefined });
    if (rows.length === 0) expect((await person.browser.get(address)).text).toContain(none);
  });

  it('sends to, or with, any of them, of which the form offers the first and the chosen one', async () => {
    const last = ids[prefix].at(-1)!;
    const address = `/panel/send?${field}=${last}`;
    expect((await person.browser.get(`${path}/${last}`)).text).toContain(`href="${address}"`);
    const { text } = await person.browser.get(address);
    const select = new RegExp(`<select[^>]*name="${field}".*?</select>`, 's').exec(text)![0];
    const options = [...select.matchAll(/<option value="(\w+)"( selected)?/g)];
    expect(options).toHaveLength(101);
    expect(options.at(-1)!.slice(1)).toEqual([last, ' selected']);
    expect(text).toContain('według nazwy');
  });
});

it('a filter offers the first groups and the chosen one', async () => {
  const { text } = await person.browser.get(`/panel/contacts?group_id=${ids.gr.at(-1)}`);
  expect([...text.matchAll(/<option value="gr_/g)]).toHaveLength(101);
  expect(text).toContain(`<option value="${ids.gr.at(-1)}" selected`);
});
