import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { newId } from '../../db/ids.ts';
import { readOverview } from '../../db/routes/routeOverview.ts';
import {
  addRoute,
  changeRoute,
  lockRoute,
  readRoute,
  readRoutes,
  readRouting,
  reportRoutes,
  type Route,
  routeCredentials,
  sealCredentials,
  type SeenRoute,
  setRouteState,
} from '../../db/routes/routes.ts';
import { transaction } from '../../db/connection.ts';
import { ownDatabase } from '../admin/support.ts';
import { rowsRead } from '../support/rowsRead.ts';

const database = ownDatabase();
const sql = () => database.sql();
const secretsKey = randomBytes(32);
let made = 0;

async function route(more: Partial<Route> = {}): Promise<string> {
  const name = `r${(made += 1)}`;
  await addRoute(sql(), {
    ...{ name, kind: 'smpp', state: 'active', settings: { host: 'h' }, credentials: null },
    ...{ ratePerSecond: null, brokenAfterS: 10 },
    ...more,
  });
  return name;
}

const rule = (of: string) => ({
  route: of,
  prefix: '',
  accountId: null,
  type: null,
  priority: null,
  weight: 100,
});
const optionOf = async (name: string) => (await readRouting(sql())).routes.find((each) => each.name === name);

describe('routes', () => {
  test('a fresh installation sends everything to the simulated network', async () => {
    expect((await readRouting(sql())).rules).toEqual([rule('simulator')]);
    expect(await readRoute(sql(), 'simulator')).toEqual({
      ...{ name: 'simulator', kind: 'simulator', state: 'active', settings: {}, credentials: null },
      ...{ ratePerSecond: null, brokenAfterS: 10, revision: 1 },
    });
  });

  test('every change raises the revision, and changes nothing else', async () => {
    const settings = { host: 'h', text: 'ż😀"\\', list: [1, null, true], deep: { a: 'b' } };
    const name = await route({ settings });
    expect((await readRoute(sql(), name))?.settings).toEqual(settings);
    await changeRoute(sql(), name, { ratePerSecond: 5 });
    await changeRoute(sql(), name, { ratePerSecond: null, brokenAfterS: 20 });
    await setRouteState(sql(), name, 'draining');
    await changeRoute(sql(), name, {});
    expect(await readRoute(sql(), name)).toEqual({
      ...{ name, kind: 'smpp', state: 'draining', settings, credentials: null },
      ...{ ratePerSecond: null, brokenAfterS: 20, revision: 4 },
    });
    expect((await readRoutes(sql())).map((each) => each.name)).toContain(name);
    const [kind] = await sql()`select jsonb_typeof(settings) as kind from routes where name = ${name}`;
    expect(kind).toEqual({ kind: 'object' });
  });

  test('of two operators at once the second sees what the first has made', async () => {
    const name = await route({ settings: { count: 0 } });
    const raise = () =>
      transaction(sql(), async (tx) => {
        const { count } = (await lockRoute(tx, name))?.settings as { count: number };
        await changeRoute(tx, name, { settings: { count: count + 1 } });
      });
    await Promise.all(Array.from({ length: 8 }, raise));
    expect(await readRoute(sql(), name)).toMatchObject({ settings: { count: 8 }, revision: 9 });
  });
});

describe('credentials', () => {
  test('are unreadable in the table, with another key, for another route, and when damaged', async () => {
    const credentials = { systemId: 'goniec', password: 'bardzo-tajne-ż' };
    const name = await route({ credentials: sealCredentials(secretsKey, `r${made + 1}`, credentials) });
    const stored = (await readRoute(sql(), name))!;
    expect(routeCredentials(secretsKey, stored)).toEqual(credentials);
    const [raw] =
      await sql()`select routes::text || encode(credentials, 'escape') as everything from routes where name = ${name}`;
    expect(raw?.['everything']).not.toMatch(/tajne|goniec|password/);
    expect(() => routeCredentials(randomBytes(32), stored)).toThrow('does not match');
    expect(() => routeCredentials(secretsKey, { ...stored, name: 'other' })).toThrow('does not match');
    for (const at of [0, 1, 13, stored.credentials!.length - 1]) {
      const credentials = Buffer.from(stored.credentials!);
      credentials[at]! ^= 1;
      expect(() => routeCredentials(secretsKey, { name, credentials })).toThrow();
    }
    expect(routeCredentials(secretsKey, { name, credentials: null })).toBeNull();
    expect(sealCredentials(secretsKey, name, credentials)).not.toEqual(
      sealCredentials(secretsKey, name, credentials),
    );
  });
});

describe('routing and overview', () => {
  test('a route works as long as it had a session within its own time', async () => {
    const name = await route({ brokenAfterS: 30 });
    expect(await optionOf(name)).toMatchObject({
      ...{ name, kind: 'smpp', state: 'active', working: false },
    });
    for (const [ago, working] of [
      [0, true],
      [25, true],
      [31, false],
    ] as const) {
      await sql()`update route_states set working_at = now() - make_interval(secs => ${ago}) where route = ${name}`;
      expect((await optionOf(name))?.working).toBe(working);
      expect((await readOverview(sql(), name))[0]?.working).toBe(working);
    }
  });

  test('count e-mails too, by what is known of their hand-over, and read only what waits', async () => {
    const [name, other] = [await route({ kind: 'smtp' }), await route()];
    const account = newId('cl');
    await sql()`insert into accounts (id, name) values (${account}, 'Test')`;
    const add = async (status: string, submission: string, times: number, on = name) => {
      await sql()`
        insert into emails (id, account_id, request_id, interface, status, submission, route, domain, from_address, subject, cost_grosze,
                            give_up_at)
        select id, ${account}, id, 'v1', ${status}, ${submission}, ${on}, 'a.example', 'a@a.example', 'x', 1, now()
          from unnest(${Array.from({ length: times }, () => newId('em'))}::text[]) id`;
      await sql()`
        insert into messages (id, account_id, request_id, status, submission, accepted_as, recipient, text, parts, cost_grosze,
                              route, give_up_at)
        select id, ${account}, id, ${status}, ${submission}, 'queued', '+48500100200', 'x', 1, 15, ${on}, now()
          from unnest(${Array.from({ length: times }, () => newId('msg'))}::text[]) id`;
    };
    await add('delivered', 'answered', 2_000);
    await add('queued', 'waiting', 2);
    await add('queued', 'submitting', 1);
    await add('queued', 'unanswered', 4);
    await add('queued', 'unanswered', 1, other);
    await sql()`analyze emails`;
    await sql()`analyze messages`;
    for (const table of ['emails', 'messages']) {
      const { answer, rows } = await rowsRead(sql(), table, (tx) => readOverview(tx));
      expect(answer).toContainEqual(expect.objectContaining({ name, queue: 6, unanswered: 8 }));
      expect(answer).toContainEqual(expect.objectContaining({ name: other, queue: 0, unanswered: 2 }));
      expect(rows).toBeLessThan(50);
      const one = await rowsRead(sql(), table, (tx) => readOverview(tx, name));
      expect(one.answer).toMatchObject([{ name, queue: 6, unanswered: 8 }]);
      expect(one.rows).toBeLessThan(50);
    }
  });

  test('a route submits since a worker first saw it take a part, and whoever sees it later changes nothing', async () => {
    const name = await route();
    const none = { throttled: 0, refused: 0, unanswered: 0, held: 0, failures: 0 };
    const report = async (worker: string, more: Partial<SeenRoute>): Promise<Date | null | undefined> => {
      await reportRoutes(sql(), worker, [
        {
          ...{ route: name, working: true, sessions: 1, sessionsWanted: 1, window: 10, inFlight: 0 },
          ...{ submitted: 0, ...none, lastError: null, lastErrorAt: null, ...more },
        },
      ]);
      return (await readOverview(sql(), name))[0]?.submittingSince;
    };
    expect(await report('one', { refused: 3, unanswered: 1 })).toBeNull();
    const first = await report('one', { submitted: 1 });
    expect(first).toBeInstanceOf(Date);
    expect(await report('two', { submitted: 7 })).toEqual(first);
    expect(await report('one', { submitted: 0 })).toEqual(first);
  });
});
