import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../../db/ids.ts';
import { addDays, polishDay, startOfDay } from '../../../domain/calendar.ts';
import { database, newAccount } from '../../support/factories.ts';
import { newPerson, type PanelUnderTest, type Person, startPanel } from '../../support/panel.ts';
import { writePast } from '../../support/reportMessages.ts';

let panel: PanelUnderTest;
beforeAll(async () => {
  panel = await startPanel();
});
afterAll(() => panel.api.stop());

const overviewOf = async ({ browser }: Person) => (await browser.get('/panel/overview')).text;
const NOON_MS = 12 * 3_600_000;
/** Noon of a Polish day. */
const noon = (daysAgo: number) => startOfDay(addDays(polishDay(Date.now()), -daysAgo)) + NOON_MS;

describe('first steps', () => {
  it('of a test account are done as its data says, for who may take them', async () => {
    const person = await newPerson(panel, 'owner');
    const { account } = person;
    const done = async () => (await overviewOf(person)).match(/>zrobione</g)?.length ?? 0;
    const before = await overviewOf(person);
    for (const path of ['numbers', 'send', 'keys', 'senders', 'billing'])
      expect(before).toMatch(new RegExp(`<li><a href="/panel/${path}">`));
    expect(await done()).toBe(0);
    await database()`insert into verified_numbers (account_id, msisdn) values (${account}, '+48500100299')`;
    expect(await done()).toBe(1);
    await writePast({ id: account } as Parameters<typeof writePast>[0], [{ at: Date.now() }]);
    expect(await done()).toBe(2);
    await database()`update api_keys set last_used_at = now() where account_id = ${account}`;
    expect(await done()).toBe(3);
    await database()`insert into senders (account_id, name) values (${account}, 'SKLEP')`;
    expect(await done()).toBe(4);
    const developer = await overviewOf(await newPerson(panel, 'developer', account));
    expect(developer).toContain('<li>Doładuj konto ');
    expect(await overviewOf(await newPerson(panel, 'reader', account))).not.toContain('Pierwsze kroki');
    const live = await newAccount();
    expect(await overviewOf(await newPerson(panel, 'owner', live.id))).not.toContain('Pierwsze kroki');
  });
});

describe('the figures', () => {
  it.each(['live', 'test'] as const)('of a %s account are those of its report', async (mode) => {
    const account = await newAccount({ mode, testCredits: 25 });
    const testCredits = mode === 'test' ? 1 : 0;
    const past = [
      { at: noon(0) },
      { at: noon(0), status: 'undelivered', cost: 20 },
      { at: noon(0), status: 'failed', refunded: true },
      { at: noon(1), status: 'cancelled', refunded: true },
      { at: noon(1), status: 'rejected', cost: 0 },
      { at: noon(29), status: 'expired', cost: 30 },
      { at: noon(29), status: 'sent' },
      { at: noon(29), status: 'queued' },
      { at: noon(29), testCredits: 1 },
      { at: noon(30), cost: 1_000 },
    ] as const;
    await writePast(
      account,
      past.map((one) => ({ testCredits, ...one })),
    );
    const { body } = await account.api.get('/v1/reports?group_by=day');
    const { totals, data } = body as unknown as {
      totals: Record<string, number>;
      data: Record<string, number>[];
    };
    const text = await overviewOf(await newPerson(panel, 'billing', account.id));
    const shown = [...text.matchAll(/<dt>(Wysłane|Dostarczone|Nieudane|Koszt)<\/dt><dd>([^<]*)<\/dd>/g)].map(
      ([, , value = '']) => Math.round(Number(value.replace(',', '.').replace(/[^\d.-]/g, '')) * 100),
    );
    const today = data.at(-1)!;
    const ofReport = (of: Record<string, number>) => [
      (of['accepted']! - of['scheduled']! - of['queued']! - of['cancelled']!) * 100,
      of['delivered']! * 100,
      (of['undelivered']! + of['failed']! + of['expired']!) * 100,
      of['net_grosze']!,
    ];
    expect(shown).toEqual([...ofReport(today), ...ofReport(totals)]);
    expect(shown.slice(0, 3)).toEqual([300, 100, 200]);
    expect(text.match(/<title>[^<]+: wysłane /g)).toHaveLength(30);
    expect(text).toMatch(/<title>[^<]+: wysłane 3, w tym nieudane 2<\/title>/);
    expect(text).toMatch(/<tr><th scope="row">[^<]+<\/th><td>3<\/td><td>1<\/td><td>2<\/td>/);
  });
});

describe('what needs somebody', () => {
  type Change = (account: string) => Promise<unknown>;
  const cases: [what: string, mode: 'live' | 'test', text: string, change: Change][] = [
    [
      'a suspended account',
      'live',
      'Konto jest zawieszone',
      (id) => database()`update accounts set status = 'suspended' where id = ${id}`,
    ],
    [
      'a balance below that of a week',
      'live',
      'Kończą się środki',
      (id) => writePast({ id } as Parameters<typeof writePast>[0], [{ at: noon(1), cost: 6_000 }]),
    ],
    [
      'free messages that are used up',
      'test',
      'Bezpłatne wiadomości się skończyły',
      (id) => database()`insert into ledger_entries (account_id, kind, amount_grosze, test_credits)
        values (${id}, 'adjustment', 0, -25)`,
    ],
    [
      'a number that is gone',
      'test',
      '<a href="/panel/numbers">Konto testowe nie ma własnego numeru',
      (id) => writePast({ id } as Parameters<typeof writePast>[0], [{ at: noon(40), testCredits: 1 }]),
    ],
    [
      'events that nobody took',
      'live',
      '<a href="/panel/webhooks">Od wczoraj webhook',
      (id) => database()`
        insert into webhook_events (id, account_id, subject_kind, subject_id, type, snapshot, state, exhausted_at)
        values (${newId('evt')}, ${id}, 'message', 'msg_x', 'message.sent', '{}', 'exhausted', now())`,
    ],
    [
      'a key that nobody uses',
      'live',
      '<a href="/panel/keys">Od 90 dni nikt nie użył klucza: Stary',
      (id) => database()`
        update api_keys set label = 'Stary', created_at = now() - interval '91 days' where account_id = ${id}`,
    ],
  ];
  it.each(cases)('is shown: %s', async (_, mode, text, change) => {
    const { id } = await newAccount({ mode, balance: mode === 'live' ? 10_000 : 0 });
    const person = await newPerson(panel, 'developer', id);
    expect(await overviewOf(person)).not.toContain('Wymaga uwagi');
    await change(id);
    const seen = await overviewOf(person);
    expect(seen.match(/Wymaga uwagi/g)).toHaveLength(1);
    expect(seen).toContain(text);
    const reader = await overviewOf(await newPerson(panel, 'reader', id));
    expect(reader).not.toContain('<li><a href="/panel/keys">');
  });
});
