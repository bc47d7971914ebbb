import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { z } from 'zod';
import { openDatabase } from '../../db/connection.ts';
import { addRoute, addRule, sealCredentials } from '../../db/routes/routes.ts';
import { RETURN_PATH_KEY } from '../smtp/client.ts';
import { type Fault, type FaultServer, type Stage, startFaultServer } from '../smtp/faultServer.ts';
import { insertDomain } from '../support/email.ts';
import { endings } from '../support/endings.ts';
import { eventually } from '../support/eventually.ts';
import { untilBound } from '../support/product.ts';
import { chanceFrom } from './chance.ts';
import { startSeparately } from './installation.ts';
import { createMailAccount } from './mailAccount.ts';
import { SEED } from './seed.ts';

const EMAILS = Number(process.env['CRASH_EMAILS'] ?? 60);
const KILLS = 2;
const CONNECTIONS = 4;
const OPENING = 10_000;
// What is put off comes again after half a minute, and what its worker lost is unanswered as late.
const PATIENCE_MS = 4 * 60_000;
const ROUTE = 'relay';

// What becomes of an e-mail, by how its address begins. SMTP cannot know of these whether they were taken.
const IN_DOUBT = ['lost', 'gone', 'silent'];
const KINDS = [...IN_DOUBT, 'refused', 'grey', 'busy', 'later', 'jan', 'ola', 'ewa', 'iga'];

const started = endings();
afterEach(() => started.all());

/** The relay's faults: each of the passing ones once for each address. */
function faultsOf(): FaultServer['fault'] {
  const seen = new Set<string>();
  const once = (address: string, fault: Fault): Fault | null => {
    if (seen.has(address)) return null;
    seen.add(address);
    return fault;
  };
  return (stage: Stage, line: string) => {
    const [address = '', kind = ''] = /([a-z]+)\+[0-9]+@klient\.example/.exec(line) ?? [];
    if (stage === 'RCPT') {
      if (kind === 'refused') return { reply: '550 5.1.1 no such user' };
      if (kind === 'grey') return once(address, { reply: '450 4.2.0 come again' });
      if (kind === 'busy') return once(address, { reply: '421 4.3.2 busy' });
    }
    if (stage === 'dot' && kind === 'later') return once(address, { reply: '451 4.3.0 later' });
    if (stage === 'dot' && kind === 'lost') return 'reset';
    if (stage === 'taken' && kind === 'gone') return 'reset';
    return stage === 'taken' && kind === 'silent' ? 'silence' : null;
  };
}

test(
  'e-mails by a relay among its faults and kills of workers: none lost, none twice, charged to the grosz',
  async () => {
    const relay = await startFaultServer();
    started.add(() => relay.close());
    relay.fault = faultsOf();
    const service = await startSeparately();
    started.add(() => service.stop());
    const chance = chanceFrom(SEED, 'relay');
    const sql = openDatabase(service.databaseUrl, 4);
    started.add(() => sql.end({ timeout: 5 }));
    const { id: account, token } = await createMailAccount(service, OPENING);
    const settings = {
      ...{ host: '127.0.0.1', port: relay.port, security: 'none', mailHost: 'mail.goniec.example' },
      ...{ connections: CONNECTIONS, responseSeconds: 1, connectSeconds: 1 },
    };
    await addRoute(sql, {
      ...{ name: ROUTE, kind: 'smtp', state: 'active', settings, ratePerSecond: null, brokenAfterS: 600 },
      credentials: sealCredentials(service.secretsKey, ROUTE, { returnPathKey: RETURN_PATH_KEY }),
    });
    await addRule(sql, {
      ...{ route: ROUTE, prefix: '', accountId: account, type: 'email', priority: null, weight: 100 },
    });
    await untilBound(sql, ROUTE, 1);
    await insertDomain(sql, service.secretsKey, account, { routes: [ROUTE] });

    const wished = Array.from(
      { length: EMAILS },
      (_, index) => `${KINDS[index % KINDS.length]}+${index}@klient.example`,
    );
    const send = async (to: string): Promise<{ status: number; text: string }> => {
      const answer = await fetch(`${service.apiUrls[0]}/v1/email`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ to, subject: 'Temat', text: 'Treść', idx: to.split('@')[0] }),
      });
      return { status: answer.status, text: await answer.text() };
    };
    const ids = new Map<string, string>();
    const waiting = chance.shuffled(wished);
    const callers = Array.from({ length: 6 }, async () => {
      for (let to = waiting.shift(); to !== undefined; to = waiting.shift()) {
        // A new rule is known after a moment, and workers are away for one.
        const { text } = await eventually(
          () => send(to),
          ({ status }) => status === 200,
          60_000,
        );
        ids.set(to, z.object({ data: z.object({ id: z.string() }) }).parse(JSON.parse(text)).data.id);
      }
    });
    const killing = (async () => {
      for (let kill = 0; kill < KILLS; kill += 1) {
        await eventually(
          () => Promise.resolve(relay.commands.length),
          (some) => some >= (kill + 1) * EMAILS,
          60_000,
        );
        await delay(chance.between(0, 500));
        for (const worker of service.workers) {
          await worker.kill();
          await worker.start();
        }
      }
    })();
    await Promise.all([...callers, killing]);

    const open = async () =>
      await sql<{ id: string; status: string; submission: string }[]>`
        select id, status, submission from emails
         where account_id = ${account} and status = 'queued' and submission <> 'unanswered'`;
    expect(await eventually(open, (left) => left.length === 0, PATIENCE_MS)).toEqual([]);
    // Nothing comes of what is unanswered, however long one waits.
    await delay(15_000);

    const stored = await sql<
      {
        id: string;
        idx: string;
        status: string;
        submission: string;
        refunds: number;
        sent: number;
        bounced: number;
      }[]
    >`
      select id, idx, status, submission,
             (select count(*)::int from ledger_entries where subject_id = e.id and kind = 'refund') as refunds,
             (select count(*)::int from email_events where email_id = e.id and kind = 'sent') as sent,
             (select count(*)::int from email_events where email_id = e.id and kind = 'bounced') as bounced
        from emails e where account_id = ${account} order by id`;
    expect(stored).toHaveLength(EMAILS);
    const takenOf = (id: string): number => relay.taken.filter((one) => one === id).length;
    let doubtful = 0;
    for (const to of wished) {
      const email = stored.find(({ idx }) => to.startsWith(`${idx}@`))!;
      const [kind = ''] = to.split('+');
      expect(email.id).toBe(ids.get(to));
      expect(takenOf(email.id), to).toBeLessThanOrEqual(1);
      if (email.submission === 'unanswered') {
        doubtful += 1;
        expect(email, to).toMatchObject({ status: 'queued', refunds: 0, sent: 0 });
      } else if (kind === 'refused') {
        expect(email, to).toMatchObject({ status: 'failed', refunds: 1, sent: 0, bounced: 1 });
        expect(takenOf(email.id)).toBe(0);
      } else {
        expect(IN_DOUBT, to).not.toContain(kind);
        expect(email, to).toMatchObject({ status: 'sent', refunds: 0, sent: 1, bounced: 0 });
        expect(takenOf(email.id), to).toBe(1);
      }
    }
    const byFaults = wished.filter((to) => IN_DOUBT.some((kind) => to.startsWith(kind))).length;
    console.log(
      `${doubtful} e-mails in doubt, ${byFaults} of them by faults of the relay; none was repeated`,
    );
    expect(doubtful).toBeGreaterThanOrEqual(byFaults);
    // A kill leaves in doubt no more than a worker has under way.
    expect(doubtful - byFaults).toBeLessThanOrEqual(KILLS * service.workers.length * CONNECTIONS);

    const failed = stored.filter(({ status }) => status === 'failed').length;
    const books = await sql`
      select balance_grosze::int as balance,
             (select sum(amount_grosze)::int from ledger_entries where account_id = a.id) as ledger,
             (select count(*)::int from suppressions where account_id = a.id) as suppressed
        from accounts a where id = ${account}`;
    const left = OPENING - EMAILS + failed;
    expect(books).toEqual([{ balance: left, ledger: left, suppressed: failed }]);
  },
  2 * PATIENCE_MS,
);
