import { setTimeout as delay } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { afterEach, expect, test } from 'vitest';
import { z } from 'zod';
import { openDatabase } from '../../db/connection.ts';
import { viewWorkflow, type WorkflowView } from '../../operations/support/workflow.ts';
import { insertDomain } from '../support/email.ts';
import { endings } from '../support/endings.ts';
import { eventually } from '../support/eventually.ts';
import { chanceFrom } from './chance.ts';
import { startSeparately } from './installation.ts';
import { createMailAccount } from './mailAccount.ts';
import { SEED } from './seed.ts';

const EMAILS = Number(process.env['CRASH_EMAILS'] ?? 300);
const AT_ONCE = 20;
const KILLS = 6;
const OPENING = 100_000;
const PATIENCE_MS = 5 * 60_000;
// What its caller has lost is decided by then, or forgotten.
const ANSWERED_MS = 3 * 60_000;

const started = endings();
afterEach(() => started.all());

interface Wished {
  idx: string;
  to: string[];
}

/** What Temporal knows of the workflow of an e-mail, its pending activities with it. */
async function workflowOf(temporalAddress: string, id: string): Promise<WorkflowView | null> {
  const connection = await Connection.connect({ address: temporalAddress });
  return await viewWorkflow(new Client({ connection }), id).finally(() => connection.close());
}

/** Asks either API until it is answered for good. @returns the id, and how often the answer was lost */
async function sendUntilAnswered(
  urls: readonly string[],
  token: string,
  { idx, to }: Wished,
): Promise<{ id: string; lost: number }> {
  const deadline = Date.now() + ANSWERED_MS;
  const file = { filename: 'a.txt', content: Buffer.from(idx).toString('base64') };
  let lost = 0;
  for (let tries = 0; ; tries += 1) {
    const answer = await fetch(`${urls[tries % urls.length]}/v1/email`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ to, subject: 'Temat', text: 'Treść', idx, attachments: [file] }),
    })
      .then(async (response) => ({ status: response.status, text: await response.text() }))
      .catch(() => ({ status: 0, text: '' }));
    if (answer.status === 200) {
      const { data } = z.object({ data: z.object({ id: z.string() }) }).parse(JSON.parse(answer.text));
      return { id: data.id, lost };
    }
    if (answer.status === 0) lost += 1;
    else expect([429, 502, 503, 504], answer.text).toContain(answer.status);
    if (Date.now() > deadline) throw new Error(`${idx} has no answer: ${answer.status} ${answer.text}`);
    await delay(500);
  }
}

test(
  'e-mails among faults of their provider and kills of API and workers: none lost, none twice, charged to the grosz',
  async () => {
    const service = await startSeparately();
    started.add(() => service.stop());
    console.log(`CRASH_SEED=${SEED}`);
    const chance = chanceFrom(SEED, 'emails');
    const sql = openDatabase(service.databaseUrl, 4);
    started.add(() => sql.end({ timeout: 5 }));
    const { id: account, token } = await createMailAccount(service, OPENING);
    await insertDomain(sql, service.secretsKey, account);

    const wished = Array.from({ length: EMAILS }, (_, index): Wished => {
      const first = chance.pick(['throttled', 'unanswered', 'refused', 'delayed', 'jan', 'ola', 'ewa']);
      const more = Array.from({ length: chance.between(0, 2) }, (__, i) => `kopia${i}@klient.example`);
      return { idx: `zam-${index}`, to: [`${first}+${index}@klient.example`, ...more] };
    });
    const answers = new Map<string, { id: string; lost: number }>();
    const waiting = [...wished];
    const callers = Array.from({ length: AT_ONCE }, async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
        answers.set(next.idx, await sendUntilAnswered(service.apiUrls, token, next));
    });
    const killing = (async () => {
      for (let kill = 0; kill < KILLS; kill += 1) {
        await delay(chance.between(500, 4_000));
        const victim = chance.pick([...service.workers, ...service.apis, ...service.workers]);
        await victim.kill();
        await victim.start();
      }
    })();
    await Promise.all([...callers, killing]);

    const isRefused = ({ to }: Wished): boolean => to[0]!.startsWith('refused');
    const open = async () =>
      await sql<{ id: string; status: string; submission: string }[]>`
        select id, status, submission from emails e
         where account_id = ${account}
           -- An event may say delivered before the submit's answer is stored, which removes the pieces.
           and (status not in ('delivered', 'failed') or exists (select from email_attachment_pieces where email_id = e.id))`;
    await eventually(open, (left) => left.length === 0, PATIENCE_MS).catch(async (error: unknown) => {
      for (const { id } of await open())
        console.log(id, new Date(), await workflowOf(service.temporalAddress, id).catch(String));
      throw error;
    });

    const stored = await sql<{ id: string; idx: string; status: string; refunds: number; pieces: number }[]>`
      select id, idx, status,
             (select count(*)::int from ledger_entries where subject_id = e.id and kind = 'refund') as refunds,
             (select count(*)::int from email_attachment_pieces where email_id = e.id) as pieces
        from emails e where account_id = ${account} order by id`;
    const byIdx = new Map(stored.map((email) => [email.idx, email]));
    expect(stored).toHaveLength(EMAILS);
    expect(byIdx.size, 'no idx has two e-mails').toBe(EMAILS);
    for (const one of wished) {
      const refused = isRefused(one);
      expect(byIdx.get(one.idx), one.to[0]).toEqual({
        ...{ id: answers.get(one.idx)!.id, idx: one.idx, status: refused ? 'failed' : 'delivered' },
        ...{ refunds: refused ? 1 : 0, pieces: 0 },
      });
    }

    // The provider knows each by its reference alone: one row is one e-mail to its recipients.
    const taken = await sql<
      { reference: string; tries: number }[]
    >`select reference, tries from simulator_emails`;
    const sent = wished.filter((one) => !isRefused(one));
    expect(taken.map(({ reference }) => reference).sort()).toEqual(
      sent.map(({ idx }) => byIdx.get(idx)!.id).sort(),
    );
    const settled = taken.filter(({ tries }) => tries > 1).length;
    const lost = [...answers.values()].filter((answer) => answer.lost > 0).length;
    console.log(`${lost} answers lost by callers, ${settled} e-mails handed over again and taken once`);

    const paid = sent.reduce((sum, { to }) => sum + to.length, 0);
    const books = await sql`
      select balance_grosze::int as balance,
             (select sum(amount_grosze)::int from ledger_entries where account_id = a.id) as ledger
        from accounts a where id = ${account}`;
    expect(books).toEqual([{ balance: OPENING - paid, ledger: OPENING - paid }]);

    // Each idx goes on standing for its e-mail.
    for (const one of wished.slice(0, 20))
      expect(await sendUntilAnswered(service.apiUrls, token, one)).toEqual({
        ...{ id: byIdx.get(one.idx)!.id, lost: 0 },
      });
  },
  2 * PATIENCE_MS + ANSWERED_MS,
);
