import { afterEach, expect, test } from 'vitest';
import { openDatabase } from '../../db/connection.ts';
import { startResend } from '../providers/resendServer.ts';
import { endings } from '../support/endings.ts';
import { eventually } from '../support/eventually.ts';
import { type Chance, chanceFrom } from './chance.ts';
import { faultyProvider, type Script } from './emailFaults.ts';
import {
  busyWorkflows,
  checkBooks,
  checkEmails,
  checkProvider,
  checkReports,
  checkSuppressions,
  leftToDo,
  piecesLeft,
} from './emailFindings.ts';
import { startReports } from './emailReports.ts';
import {
  each,
  makeMailAccounts,
  openRoute,
  openWebhook,
  planEmails,
  ROUTE,
  sendUntilAnswered,
  type Told,
  type Wished,
} from './emailScene.ts';
import { type Separate, startSeparately } from './installation.ts';
import { SEED } from './seed.ts';

const EMAILS = Number(process.env['CRASH_EMAILS'] ?? 300);
const KILLS = 8;
// What has to happen for the last kill, of answers to callers and requests to the provider: there are more of both together.
const LAST_KILL = 1.5 * EMAILS;
const TOP_UP_ZLOTYS = 50;
const PATIENCE_MS = 5 * 60_000;

const started = endings();
afterEach(() => started.all());

/** Kills a worker, an API, or one of each at once, whenever so much more has happened. */
async function killAmong({ workers, apis }: Separate, chance: Chance, happened: () => number): Promise<void> {
  const steps = LAST_KILL / KILLS;
  for (let kill = 0; kill < KILLS; kill += 1) {
    const at = chance.between(Math.floor(kill * steps), Math.floor((kill + 1) * steps));
    const worker = chance.pick(workers);
    const api = chance.pick(apis);
    const victims = chance.pick([[worker], [api], [worker, api]]);
    await eventually(
      () => Promise.resolve(happened()),
      (some) => some >= at,
      PATIENCE_MS,
    );
    await Promise.all(victims.map((one) => one.kill()));
    await Promise.all(victims.map((one) => one.start()));
  }
}

const isNothing = (left: object): boolean => Object.keys(left).length === 0;

test(
  'e-mails by Resend among its faults and kills of API and workers: none lost, none twice, each event once, charged to the grosz',
  async () => {
    const service = await startSeparately();
    started.add(() => service.stop());
    const resend = await startResend();
    started.add(() => resend.close());
    const sql = openDatabase(service.databaseUrl, 4);
    started.add(() => sql.end({ timeout: 5 }));
    const chance = (purpose: string): Chance => chanceFrom(SEED, `resend ${purpose}`);
    const wished = planEmails(chance('plan'), EMAILS);
    const bySubject = new Map(wished.map((one) => [one.idx, one]));

    const reports = startReports(resend, {
      ...{ chance: chance('reports'), urls: service.apiUrls, route: ROUTE },
      fateOf: (subject) => bySubject.get(subject)!.fate,
    });
    let reportedOf = 0;
    const provider = faultyProvider(
      chance('faults'),
      (subject): Script => bySubject.get(subject)!.script,
      () => {
        for (; reportedOf < resend.sent.length; reportedOf += 1) reports.about(resend.sent[reportedOf]!);
      },
    );
    resend.always(provider.mischief);
    await openRoute(service, sql, resend);
    const accounts = await makeMailAccounts(service, sql, resend, wished);
    const webhooks = [
      await openWebhook(service, accounts.rich, started),
      await openWebhook(service, accounts.poor, started),
    ];

    const told = new Map<string, Told>();
    const send = (all: readonly Wished[]) =>
      each(all, async (one) => {
        told.set(one.idx, await sendUntilAnswered(service.apiUrls, accounts[one.payer], one));
      });
    const untilOver = async () => {
      expect(await eventually(() => leftToDo(sql), isNothing, PATIENCE_MS)).toEqual({});
      await reports.settled();
      expect(await eventually(() => leftToDo(sql), isNothing, PATIENCE_MS)).toEqual({});
    };
    const requests = () => resend.calls.filter(({ path }) => path === '/emails').length;
    await Promise.all([send(wished), killAmong(service, chance('kills'), () => told.size + requests())]);
    await untilOver();

    // What could not be paid left nothing, and is sent once it can be.
    const unpaid = wished.filter(({ idx }) => told.get(idx)!.status === 402);
    const lost = [...told.values()].filter((answer) => answer.lost > 0).length;
    expect(unpaid.length).toBeGreaterThan(0);
    const [left] = await sql<{ keys: number; emails: number }[]>`
      select (select count(*)::int from idempotency_keys) as keys, (select count(*)::int from emails) as emails`;
    expect(left).toEqual({ keys: EMAILS - unpaid.length, emails: EMAILS - unpaid.length });
    await service.admin('topup', '--account', accounts.poor.id, '--pln', String(TOP_UP_ZLOTYS));
    await send(unpaid);
    await untilOver();

    const scene = {
      ...{ sql, service, resend, provider, webhooks, wished, told, reported: reports.reported },
      accounts: {
        rich: { ...accounts.rich, toppedUpGrosze: 0 },
        poor: { ...accounts.poor, toppedUpGrosze: TOP_UP_ZLOTYS * 100 },
      },
    };
    expect(reports.complaints).toEqual([]);
    checkProvider(scene);
    await checkEmails(scene);
    await checkBooks(scene);
    await checkReports(scene);
    await checkSuppressions(scene);
    expect(await eventually(() => busyWorkflows(scene), isNothing)).toEqual([]);
    expect(await piecesLeft(scene)).toBe(0);

    // Each idx goes on standing for its e-mail, at either API.
    const sent = resend.sent.length;
    await each(wished, async (one) => {
      for (const url of service.apiUrls)
        expect(await sendUntilAnswered([url], accounts[one.payer], one)).toEqual({
          ...{ status: 200, id: told.get(one.idx)!.id, lost: 0, replayed: true },
        });
    });
    await checkBooks(scene);
    expect(resend.sent).toHaveLength(sent);

    const calls = webhooks.reduce((sum, webhook) => sum + webhook.calls.length, 0);
    console.log(
      `seed ${SEED}; ${requests()} requests for ${sent} e-mails:`,
      Object.fromEntries(provider.counts),
    );
    console.log(`${reports.reported.length} events (${calls} calls of webhooks):`, reports.counts);
    console.log(`${lost} answers lost by callers, ${unpaid.length} e-mails not paid at first`);
  },
  2 * PATIENCE_MS,
);
