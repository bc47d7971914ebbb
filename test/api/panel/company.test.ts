import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { readBuyer } from '../../../db/money/companyProfiles.ts';
import { database } from '../../support/factories.ts';
import { newPerson, type PanelUnderTest, startPanel } from '../../support/panel.ts';

let panel: PanelUnderTest;
beforeAll(async () => {
  panel = await startPanel();
});
afterAll(() => panel.api.stop());

const PATH = '/panel/company';
const company = {
  ...{ kind: 'company', nip: '7811767696', name: 'Kwiaty Łucji', street: 'Rynek 2/3', postal_code: '30-001' },
  city: 'Kraków',
};
const { postal_code: postalCode, ...rest } = company;
const buyer = { ...rest, postalCode };

describe('company data', () => {
  it('are kept as the first payment wants them, and the log has the names of fields alone', async () => {
    const { browser, account } = await newPerson(panel, 'billing');
    expect(await readBuyer(database(), account)).toBeNull();
    const seen = await browser.get(`${PATH}?next=/panel/billing`);
    expect(seen.text).toContain('name="next" value="/panel/billing"');
    expect(await browser.post(PATH, { ...company, next: '/panel/billing' })).toMatchObject({
      ...{ status: 303, to: '/panel/billing' },
    });
    expect(await readBuyer(database(), account)).toEqual(buyer);
    expect((await browser.get(PATH)).text).toContain('value="Kwiaty Łucji"');
    await browser.post(PATH, company);
    await browser.post(PATH, { ...company, kind: 'consumer', city: 'Wieliczka' });
    expect(await readBuyer(database(), account)).toEqual({
      ...buyer,
      kind: 'consumer',
      nip: null,
      city: 'Wieliczka',
    });
    const log =
      await database()`select action, details from audit_log where account_id = ${account} order by id`;
    expect(log).toMatchObject([
      { action: 'accounts company', details: { fields: Object.keys(company) } },
      { action: 'accounts company', details: { fields: ['kind', 'nip', 'city'] } },
    ]);
  });

  it.each([
    [{ nip: 'PL 781–176-76-96' }, {}],
    [{ nip: 'pl7811767696' }, {}],
    [{ postal_code: ' 30 001' }, {}],
    [{ name: ' Kwiaty\u00a0 Łucji\r\n' }, {}],
    [{ name: `Ko\u0142o <b>&amp; "X" 🌷` }, { name: 'Koło <b>&amp; "X" 🌷' }],
    [{ name: 'Z\u0307o\u0301łw' }, { name: 'Żółw' }],
    [{ name: 'ż'.repeat(200) }, { name: 'ż'.repeat(200) }],
  ])('typed as %j are taken', async (typed, kept) => {
    const { browser, account } = await newPerson(panel, 'owner');
    expect(await browser.post(PATH, { ...company, ...typed })).toMatchObject({ status: 303, to: PATH });
    expect(await readBuyer(database(), account)).toEqual({ ...buyer, ...kept });
  });

  it.each([
    [{ nip: '' }, 'nip'],
    [{ nip: '7811767697' }, 'nip'],
    [{ nip: '0000000000' }, 'nip'],
    [{ nip: '78117676960' }, 'nip'],
    [{ nip: 'DE7811767696' }, 'nip'],
    [{ postal_code: '3000' }, 'postal_code'],
    [{ postal_code: '٣٠-٠٠١' }, 'postal_code'],
    [{ name: '\u00a0' }, 'name'],
    [{ name: 'x'.repeat(201) }, 'name'],
    [{ name: 'a\uffffb' }, 'name'],
    [{ street: '\u2800' }, 'street'],
    [{ city: 'x'.repeat(101) }, 'city'],
    [{ kind: 'charity' }, 'kind'],
  ])('with %j are refused, as typed', async (wrong, field) => {
    const { browser, account } = await newPerson(panel, 'owner');
    const seen = await browser.post(PATH, { ...company, ...wrong, next: '//evil.example' });
    expect(seen).toMatchObject({ status: 422, text: expect.stringContaining(`href="#${field}"`) as string });
    expect(seen.text).not.toContain('evil.example');
    expect(await readBuyer(database(), account)).toBeNull();
  });

  test('of a closed account do not change', async () => {
    const { browser, account } = await newPerson(panel, 'owner');
    await database()`update accounts set status = 'closed' where id = ${account}`;
    expect((await browser.post(PATH, company)).status).toBe(409);
    expect(await readBuyer(database(), account)).toBeNull();
  });
});
