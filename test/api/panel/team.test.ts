import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { newId } from '../../../db/ids.ts';
import { type Role, ROLES } from '../../../domain/actor.ts';
import { database, newKey } from '../../support/factories.ts';
import { hold } from '../../support/heldLocks.ts';
import {
  mailsTo,
  newAddress,
  newBrowser,
  newPerson,
  type PanelUnderTest,
  type Person,
  startPanel,
} from '../../support/panel.ts';

let panel: PanelUnderTest;
beforeAll(async () => {
  panel = await startPanel();
});
afterAll(() => panel.api.stop());

const membersOf = async (account: string) => [
  ...(await database()<{ address: string; role: Role }[]>`
    select p.address, m.role from memberships m join people p on p.id = m.person_id
     where m.account_id = ${account} order by m.created_at, p.id`),
];
const accountsOf = async (address: string) => [
  ...(await database()<{ account: string; role: Role }[]>`
    select m.account_id as account, m.role from memberships m join people p on p.id = m.person_id
     where p.address = ${address} order by m.created_at`),
];

/** Has an owner invite an address. @returns path of the invitation, as the e-mail has it */
async function invited({ browser }: Person, address: string, role: Role = 'developer'): Promise<string> {
  expect(await browser.post('/panel/team', { address, role })).toMatchObject({ to: '/panel/team' });
  return pathIn((await mailsTo(address)).at(-1)!.text);
}

const pathIn = (text: string) =>
  /https:\/\/panel\.example(\/panel\/invitation\/inv_\w{26})$/m.exec(text)![1]!;

/** Signs in on the way to a page. */
async function signedInTo(path: string, address: string) {
  const mine = newBrowser(panel);
  const to = (await mine.get(path)).to!;
  expect(to).toBe(`/panel?next=${encodeURIComponent(path)}`);
  await mine.post('/panel', { address, next: path });
  expect((await mine.post((await mailsTo(address, 2))[1]!.link)).to).toBe(path);
  return mine;
}

/** Some who have signed in with the address of an invitation, each in a browser of their own. */
async function arrivals(path: string, address: string, count: number) {
  const first = await signedInTo(path, address);
  return Array.from({ length: count }, () => {
    const browser = newBrowser(panel);
    for (const [name, value] of first.cookies) browser.cookies.set(name, value);
    return browser;
  });
}

describe('an invitation', () => {
  it('lets who signs in by its address join, with no account of their own', async () => {
    const owner = await newPerson(panel, 'owner');
    const address = newAddress();
    await owner.browser.post('/panel/language', { language: 'en' });
    await owner.browser.post('/panel/team', { address: ` ${address.toUpperCase()} `, role: 'billing' });
    const [mail] = await mailsTo(address);
    const path = pathIn(mail!.text);
    expect(mail).toMatchObject({
      subject: 'Invitation to the account Test in the Goniec panel',
      text: expect.stringMatching(
        new RegExp(`^${owner.address} invites you .* Your role: billing\\.$`, 'm'),
      ) as string,
    });
    expect((await owner.browser.get('/panel/team')).text).toContain(`>${address}<`);
    const mine = await signedInTo(path, address);
    expect(await accountsOf(address)).toEqual([]);
    for (const method of ['HEAD', 'GET', 'GET']) expect((await mine.ask(method, path)).status).toBe(200);
    expect((await mine.get(path)).text).toContain('Zaproszono Cię do konta Test. Twoja rola: rozliczenia.');
    expect(await accountsOf(address)).toEqual([]);
    expect(await mine.post(path)).toMatchObject({ status: 303, to: '/panel/overview' });
    expect(await accountsOf(address)).toEqual([{ account: owner.account, role: 'billing' }]);
    expect((await mine.get('/panel/overview')).status).toBe(200);
    expect((await mine.get('/panel/keys')).status).toBe(403);
    // Used.
    for (const seen of [await mine.get(path), await mine.post(path)]) expect(seen.status).toBe(404);
    const log = await database()`
      select action, details from audit_log where account_id = ${owner.account} order by id`;
    const details = { address: `${address[0]}…@klient.example`, role: 'billing' };
    expect([...log]).toEqual([
      { action: 'invitations create', details },
      { action: 'invitations accept', details },
    ]);
  });

  it('accepted 20 times at once makes one membership', async () => {
    const owner = await newPerson(panel, 'owner');
    const address = newAddress();
    const path = await invited(owner, address);
    const browsers = await arrivals(path, address, 20);
    const answers = await Promise.all(browsers.map((browser) => browser.post(path)));
    expect(answers.map(({ status }) => status).sort()).toEqual([303, ...Array<number>(19).fill(404)]);
    expect(await membersOf(owner.account)).toMatchObject([{ role: 'owner' }, { address, role: 'developer' }]);
  });

  it('is of no use to somebody else, who learns nothing of it', async () => {
    const [owner, other] = [await newPerson(panel, 'owner'), await newPerson(panel, 'owner')];
    const address = newAddress();
    const path = await invited(owner, address);
    for (const method of ['GET', 'POST']) {
      const { status, text } = await other.browser.ask(method, path, {
        headers: { 'sec-fetch-site': 'same-origin' },
        ...(method === 'POST' ? { form: {} } : {}),
      });
      expect(status).toBe(403);
      expect(text).toContain('To zaproszenie jest dla kogoś innego');
      expect(text).not.toContain(address);
    }
    expect(await membersOf(owner.account)).toHaveLength(1);
  });

  it('adds an account to those that the person has, and opens it', async () => {
    const [owner, other] = [await newPerson(panel, 'owner'), await newPerson(panel, 'owner')];
    const path = await invited(owner, other.address, 'reader');
    await other.browser.post(path);
    expect(await accountsOf(other.address)).toEqual([
      { account: other.account, role: 'owner' },
      { account: owner.account, role: 'reader' },
    ]);
    expect((await other.browser.get('/panel/team')).text).toContain(owner.address);
  });

  it('changes no role of who is a member by now, and stays open', async () => {
    const owner = await newPerson(panel, 'owner');
    const address = newAddress();
    const path = await invited(owner, address, 'reader');
    await database()`update people set address = ${address} where id = ${owner.id}`;
    expect(await owner.browser.post(path)).toMatchObject({
      status: 409,
      text: expect.stringContaining('Należysz już do tego konta') as string,
    });
    expect(await membersOf(owner.account)).toEqual([{ address, role: 'owner' }]);
    expect((await owner.browser.get(path)).status).toBe(200);
  });

  it.each<[string, (owner: Person, id: string) => PromiseLike<unknown>]>([
    ['withdrawn', ({ browser }, id) => browser.post(`/panel/team/invitations/${id}/withdraw`)],
    ['too old', (_, id) => database()`update invitations set expires_at = now() where id = ${id}`],
  ])('that is %s works no more, and another takes its place', async (_, end) => {
    const owner = await newPerson(panel, 'owner');
    const guest = await newPerson(panel, 'reader');
    const path = await invited(owner, guest.address);
    await end(owner, path.split('/').at(-1)!);
    for (const seen of [await guest.browser.get(path), await guest.browser.post(path)])
      expect(seen).toMatchObject({ status: 404, text: expect.stringContaining('już nie działa') as string });
    expect((await owner.browser.get('/panel/team')).text).toContain('Żadne zaproszenie nie czeka');
    const another = pathIn((await inviteAgain(owner, guest.address)).text);
    expect((await guest.browser.post(another)).to).toBe('/panel/overview');
  });

  async function inviteAgain({ browser }: Person, address: string) {
    await browser.post('/panel/team', { address, role: 'reader' });
    return (await mailsTo(address, 2))[1]!;
  }

  it('is sent again, with the same link, for another seven days', async () => {
    const owner = await newPerson(panel, 'owner');
    const address = newAddress();
    const path = await invited(owner, address);
    const id = path.split('/').at(-1)!;
    await database()`update invitations set expires_at = now() + interval '1 hour' where id = ${id}`;
    const again = await owner.browser.post(`/panel/team/invitations/${id}/resend`);
    expect(again).toMatchObject({ status: 303, to: '/panel/team' });
    expect(pathIn((await mailsTo(address, 2))[1]!.text)).toBe(path);
    const [row] = await database()`
      select expires_at > now() + interval '167 hours' as long from invitations where id = ${id}`;
    expect(row).toEqual({ long: true });
  });

  it('reaches an address five times an hour, whichever accounts invite, and keeps nobody from signing in', async () => {
    const owners = await Promise.all(Array.from({ length: 5 }, () => newPerson(panel, 'owner')));
    const address = newAddress();
    for (const owner of owners) await invited(owner, address);
    const path = pathIn((await mailsTo(address, 5))[0]!.text);
    const refused = await owners[0]!.browser.post(`/panel/team/invitations/${path.split('/').at(-1)}/resend`);
    expect(refused).toMatchObject({ status: 422, text: expect.stringContaining('pięć e-maili') as string });
    const other = await newPerson(panel, 'owner');
    const form = { address, role: 'reader' };
    expect((await other.browser.post('/panel/team', form)).text).toContain('<a href="#address">');
    expect((await newBrowser(panel).post('/panel', { address })).to).toBe('/panel/code');
    expect(await mailsTo(address, 6)).toHaveLength(6);
  });

  it('is one of 20 that are open, and of 20 a day, of an account with at most 50 people', async () => {
    const owner = await newPerson(panel, 'owner');
    const sql = database();
    const invite = () => owner.browser.post('/panel/team', { address: newAddress(), role: 'reader' });
    await sql`
      insert into invitations (id, account_id, address, role)
      select 'inv' || n || ${owner.account}, ${owner.account}, n || '@x.example', 'reader' from generate_series(1, 19) n`;
    const both = await Promise.all([invite(), invite()]);
    expect(both.map(({ status }) => status).sort()).toEqual([303, 422]);
    expect((await invite()).text).toContain('20 otwartych zaproszeń');
    await sql`delete from invitations where account_id = ${owner.account}`;
    await sql`
      insert into requested_emails (address, asker)
      select n || '@x.example', ${owner.account} from generate_series(1, 19) n`;
    expect((await invite()).text).toContain('ciągu doby 20 zaproszeń');
    await sql`delete from requested_emails where asker = ${owner.account}`;
    const guest = await newPerson(panel, 'reader');
    const path = await invited(owner, guest.address);
    await sql`
      with added as (
        insert into people (id, address) select 'p' || n || ${owner.account}, n || ${owner.account} || '@x.example'
          from generate_series(1, 49) n returning id)
      insert into memberships (person_id, account_id, role) select id, ${owner.account}, 'reader' from added`;
    expect((await invite()).text).toContain('50 osób');
    expect((await guest.browser.post(path)).status).toBe(409);
    await sql`delete from memberships where person_id = ${`p1${owner.account}`}`;
    expect((await guest.browser.post(path)).to).toBe('/panel/overview');
  });

  it.each([
    [{ address: 'jan', role: 'reader' }, 'address'],
    [{ address: 'OWN', role: 'reader' }, 'address'],
    [{ address: newAddress(), role: 'king' }, 'role'],
    [{ address: newAddress() }, 'role'],
  ])('asked for with %j is refused', async (form, field) => {
    const owner = await newPerson(panel, 'owner');
    const address = form.address.replace('OWN', owner.address);
    const seen = await owner.browser.post('/panel/team', { ...form, address });
    expect(seen).toMatchObject({
      status: 422,
      text: expect.stringContaining(`<a href="#${field}">`) as string,
    });
    expect(seen.text).toContain(`value="${address}"`);
  });

  it('to an address that has one already is refused, and so is one by a closed account', async () => {
    const owner = await newPerson(panel, 'owner');
    const address = newAddress();
    await invited(owner, address);
    const again = await owner.browser.post('/panel/team', { address, role: 'owner' });
    expect(again).toMatchObject({ status: 422, text: expect.stringContaining('czeka już') as string });
    await database()`update accounts set status = 'closed' where id = ${owner.account}`;
    const late = await owner.browser.post('/panel/team', { address: newAddress(), role: 'owner' });
    expect(late.status).toBe(409);
  });

  it('that is never accepted leaves the person free to sign up', async () => {
    const owner = await newPerson(panel, 'owner');
    const address = newAddress();
    await signedInTo(await invited(owner, address), address);
    const later = newBrowser(panel);
    await later.post('/panel', { address });
    expect((await later.post((await mailsTo(address, 3)).at(-1)!.link)).to).toBe('/panel/overview');
    expect(await accountsOf(address)).toMatchObject([{ role: 'owner' }]);
  });
});

describe('the team', () => {
  it.each(ROLES)('is shown to the role %s, and changed by owners alone', async (role) => {
    const owner = await newPerson(panel, 'owner');
    const { browser } = await newPerson(panel, role, owner.account);
    const { text } = await browser.get('/panel/team');
    expect(text).toContain(owner.address);
    expect(text).toContain('action="/panel/team/leave"');
    expect(text.includes('action="/panel/team"')).toBe(role === 'owner');
    expect(/\/(role|remove)"/.test(text)).toBe(role === 'owner');
  });

  it('is out at once: who is removed, in this account alone', async () => {
    const owner = await newPerson(panel, 'owner');
    const member = await newPerson(panel, 'developer', owner.account);
    const elsewhere = await newPerson(panel, 'owner');
    await database()`
      insert into memberships (person_id, account_id, role) values (${member.id}, ${elsewhere.account}, 'reader')`;
    await database()`
      insert into sessions (id, token_hash, person_id, account_id, assurance, address)
      values (${newId('ses')}, sha256(${member.id}::bytea), ${member.id}, ${elsewhere.account}, 'address', '10.0.0.1')`;
    const seen = await owner.browser.post(`/panel/team/${member.id}/remove`);
    expect(seen.to).toBe('/panel/team');
    expect((await member.browser.get('/panel/overview')).to).toBe('/panel?next=%2Fpanel%2Foverview');
    const left = await database()`select account_id from sessions where person_id = ${member.id}`;
    expect([...left]).toEqual([{ accountId: elsewhere.account }]);
    expect(await membersOf(owner.account)).toHaveLength(1);
  });

  it('signs in again after a change of role', async () => {
    const owner = await newPerson(panel, 'owner');
    const member = await newPerson(panel, 'reader', owner.account);
    expect((await owner.browser.post(`/panel/team/${member.id}/role`, { role: 'reader' })).status).toBe(303);
    expect((await member.browser.get('/panel/overview')).status).toBe(200);
    expect((await owner.browser.post(`/panel/team/${member.id}/role`, { role: 'developer' })).status).toBe(
      303,
    );
    expect((await member.browser.get('/panel/overview')).to).toBe('/panel?next=%2Fpanel%2Foverview');
    expect(await membersOf(owner.account)).toMatchObject([{}, { role: 'developer' }]);
    const [log] = await database()`
      select actor, subject, details->'role' as role, request_id is not null as asked
        from audit_log where account_id = ${owner.account}`;
    expect(log).toEqual({
      ...{ actor: owner.id, subject: member.id, role: { from: 'reader', to: 'developer' }, asked: true },
    });
  });

  it('is left by a member, who stays signed in', async () => {
    const owner = await newPerson(panel, 'owner');
    const member = await newPerson(panel, 'reader', owner.account);
    expect(await member.browser.post('/panel/team/leave')).toMatchObject({ status: 303, to: '/panel/you' });
    expect((await member.browser.get('/panel/you')).status).toBe(200);
    expect((await member.browser.get('/panel/team')).to).toBe('/panel/you');
    expect(await membersOf(owner.account)).toHaveLength(1);
  });

  it.each<[string, (owner: Person) => [path: string, form?: Record<string, string>]]>([
    ['leave', () => ['/panel/team/leave']],
    ['remove itself', ({ id }) => [`/panel/team/${id}/remove`]],
    ['lose the role', ({ id }) => [`/panel/team/${id}/role`, { role: 'developer' }]],
  ])('keeps its last owner, who cannot %s', async (_, act) => {
    const owner = await newPerson(panel, 'owner');
    await newPerson(panel, 'developer', owner.account);
    const seen = await owner.browser.post(...act(owner));
    expect(seen).toMatchObject({
      status: 422,
      text: expect.stringContaining('musi mieć właściciela') as string,
    });
    expect(await membersOf(owner.account)).toMatchObject([{ role: 'owner' }, {}]);
  });

  it('keeps an owner when all of them go at once', async () => {
    const first = await newPerson(panel, 'owner');
    const others = [];
    for (let more = 0; more < 7; more += 1) others.push(await newPerson(panel, 'owner', first.account));
    const owners = [first, ...others];
    await Promise.all(
      owners.map(({ browser, id }, index) =>
        index % 2 === 0
          ? browser.post('/panel/team/leave')
          : browser.post(`/panel/team/${id}/role`, { role: 'reader' }),
      ),
    );
    expect((await membersOf(first.account)).filter(({ role }) => role === 'owner')).toHaveLength(1);
  });
});

describe('who loses the role while the request waits', () => {
  const ACTS: [string, Record<string, string>][] = [
    ['/panel/team', { address: newAddress(), role: 'owner' }],
    ['/panel/team/MEMBER/role', { role: 'owner' }],
    ['/panel/team/MEMBER/remove', {}],
    ['/panel/team/invitations/INVITATION/resend', {}],
    ['/panel/team/invitations/INVITATION/withdraw', {}],
    ['/panel/keys', { label: 'x', 'scope-send': 'on' }],
    ['/panel/keys/KEY/revoke', {}],
    ['/panel/keys/KEY/rotate', {}],
    ['/panel/senders/request', { name: 'Sklep', purpose: 'x', applicant: 'x' }],
    ['/panel/settings/change', { send_window: '08:00-20:00' }],
    ['/panel/webhooks/address', { url: 'https://sklep.example/hook' }],
  ];

  it.each(ACTS)('changes nothing by %s', async (path, form) => {
    const [owner, sql] = [await newPerson(panel, 'owner'), database()];
    const { account, id, browser } = owner;
    const member = await newPerson(panel, 'owner', account);
    const invitation = newId('inv');
    await sql`
      insert into invitations (id, account_id, address, role) values (${invitation}, ${account}, ${newAddress()}, 'reader')`;
    const { keyId } = await newKey(account);
    const at = path.replace('MEMBER', member.id).replace('INVITATION', invitation).replace('KEY', keyId);
    const lock = await hold((tx) => tx`select from accounts where id = ${account} for no key update`);
    const asked = browser.post(at, form);
    await lock.releaseToWaiting((tx) =>
      path.endsWith('role')
        ? tx`update memberships set role = 'developer' where account_id = ${account} and person_id = ${id}`
        : tx`delete from memberships where account_id = ${account} and person_id = ${id}`,
    );
    expect((await asked).status).toBe(404);
    expect((await sql`select from audit_log where account_id = ${account}`).count).toBe(0);
  });
});

test('people and invitations of others are not found, and stay', async () => {
  const [mine, theirs] = [await newPerson(panel, 'owner'), await newPerson(panel, 'owner')];
  const member = await newPerson(panel, 'reader', theirs.account);
  const address = newAddress();
  const id = (await invited(theirs, address)).split('/').at(-1)!;
  for (const [path, form] of [
    [`/panel/team/${member.id}/role`, { role: 'owner' }],
    [`/panel/team/${member.id}/remove`],
    [`/panel/team/invitations/${id}/resend`],
    [`/panel/team/invitations/${id}/withdraw`],
  ] as [string, Record<string, string>?][])
    expect([path, (await mine.browser.post(path, form)).status]).toEqual([path, 404]);
  expect(await membersOf(theirs.account)).toMatchObject([{ role: 'owner' }, { role: 'reader' }]);
  expect((await mine.browser.get('/panel/team')).text).not.toContain(address);
  expect((await database()`select from invitations where id = ${id}`).count).toBe(1);
});
