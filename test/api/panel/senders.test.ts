import { inject } from 'vitest';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runAdmin } from '../../../bin/admin/program.ts';
import { openDatabase } from '../../../db/connection.ts';
import { noTools } from '../../admin/support.ts';
import { database, newAccount } from '../../support/factories.ts';
import { newPerson, type PanelUnderTest, startPanel } from '../../support/panel.ts';

let panel: PanelUnderTest;
beforeAll(async () => {
  panel = await startPanel();
});
afterAll(() => panel.api.stop());

async function staff(...line: string[]): Promise<{ code: number; out: string }> {
  let out = '';
  const write = (text: string) => void (out += text);
  const code = await runAdmin([...line, '--json'], {
    ...{ out: write, err: write, openTools: noTools },
    actor: () => 'tester',
    openDatabase: () => Promise.resolve(openDatabase(inject('service').databaseUrl, 1)),
  });
  return { code, out };
}

const application = { name: 'Kwiaty', purpose: 'Potwierdzenia zamówień', applicant: 'Kwiaty sp. z o.o.' };
const PATH = '/panel/senders';

it('a sender is asked for, approved by staff, and made the default', async () => {
  const { browser, account, id } = await newPerson(panel, 'developer');
  expect(await browser.post(`${PATH}/request`, application)).toMatchObject({ status: 303, to: PATH });
  expect((await browser.get(PATH)).text).toContain('czeka na decyzję');
  const listed = JSON.parse((await staff('senders', 'requests', '--account', account)).out) as {
    data: { id: string }[];
  };
  expect(listed.data).toMatchObject([{ ...application, state: 'pending', requested_by: id }]);
  const request = listed.data[0]!.id;
  expect((await browser.post(`${PATH}/default`, { name: 'Kwiaty' })).status).toBe(422);
  expect((await staff('senders', 'approve', request)).code).toBe(0);
  expect((await staff('senders', 'reject', request, '--reason', 'x')).out).toContain('approved already');
  expect((await browser.post(`${PATH}/default`, { name: 'Kwiaty' })).status).toBe(303);
  const { text } = await browser.get(PATH);
  for (const shown of ['przyjęta', 'domyślny', '<strong>Kwiaty</strong>']) expect(text).toContain(shown);
  const log = await database()`select action, actor from audit_log where account_id = ${account} order by id`;
  expect(log.map(({ action }) => action as string)).toEqual([
    'senders request',
    'senders requests',
    'senders approve',
    'account settings',
  ]);
});

it('a rejection is shown with its reason, and the name may be asked for again', async () => {
  const { browser, account } = await newPerson(panel, 'owner');
  const ask = () => browser.post(`${PATH}/request`, application);
  await ask();
  expect((await ask()).status).toBe(422);
  const [row] = await database()<
    { id: string }[]
  >`select id from sender_requests where account_id = ${account}`;
  await staff('senders', 'reject', row!.id, '--reason', 'Nazwa <b> należy do kogo innego');
  expect((await browser.get(PATH)).text).toContain('Nazwa &lt;b> należy do kogo innego');
  expect((await database()`select from senders where account_id = ${account}`).count).toBe(0);
  expect((await ask()).status).toBe(303);
});

it.each([
  [{ name: 'Zażółć' }, 'name'],
  [{ name: 'ABCDEFGHIJKL' }, 'name'],
  [{ name: '' }, 'name'],
  [{ purpose: ' \u200b' }, 'purpose'],
  [{ purpose: 'x'.repeat(501) }, 'purpose'],
  [{ applicant: '' }, 'applicant'],
  [{ applicant: 'x'.repeat(201) }, 'applicant'],
])('a request with %j is refused, as typed', async (wrong, field) => {
  const { browser, account } = await newPerson(panel, 'owner');
  const seen = await browser.post(`${PATH}/request`, { ...application, ...wrong });
  expect(seen).toMatchObject({ status: 422, text: expect.stringContaining(`href="#${field}"`) as string });
  expect((await database()`select from sender_requests where account_id = ${account}`).count).toBe(0);
});

it('ten requests wait at most, and none is made for what is active', async () => {
  const account = await newAccount({ senders: ['Kwiaty'] });
  const { browser } = await newPerson(panel, 'owner', account.id);
  expect((await browser.post(`${PATH}/request`, application)).status).toBe(422);
  const asked = await Promise.all(
    Array.from({ length: 12 }, (_, n) =>
      browser.post(`${PATH}/request`, { ...application, name: `Kwiaty ${n}` }),
    ),
  );
  expect(asked.filter(({ status }) => status === 303)).toHaveLength(10);
});

it('who only reads sees senders and states, and nothing of another account', async () => {
  const theirs = await newPerson(panel, 'owner');
  await theirs.browser.post(`${PATH}/request`, { ...application, name: 'CUDZA' });
  const account = await newAccount({ senders: ['SKLEP'], defaultSender: 'SKLEP' });
  const { text } = await (await newPerson(panel, 'reader', account.id)).browser.get(PATH);
  expect(text).toContain('<strong>SKLEP</strong>');
  expect(text).not.toMatch(/CUDZA|name="purpose"/);
});
