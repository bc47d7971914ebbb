import { randomBytes } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { MockActivityEnvironment } from '@temporalio/testing';
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { handOverEmail } from '../../activities/email/handOver.ts';
import {
  claimEmail,
  endEmail,
  failEmail,
  giveUpEmail,
  releaseEmailClaim,
  readSubmittableEmail,
} from '../../db/emails/handOver.ts';
import { storeEmailEvents } from '../../db/emails/events.ts';
import { addSuppressions } from '../../db/emails/suppressions.ts';
import { newId } from '../../db/ids.ts';
import { createEmailEvents } from '../../pipeline/emailEvents.ts';
import { createRetryThrottle } from '../../concurrency/retryPace.ts';
import { createFairSemaphore } from '../../concurrency/semaphore.ts';
import { createPacer } from '../../db/routes/pacing.ts';
import type { EmailAnswer, EmailProvider, SubmitEmail } from '../../providers/email.ts';
import { emailOnly } from '../../providers/kind.ts';
import type { Suspect } from '../../domain/submission.ts';
import { FAILURE, type HandedOver } from '../../workflows/contracts.ts';
import { ownDatabase } from '../admin/support.ts';
import { insertDomain } from '../support/email.ts';
import { eventually } from '../support/eventually.ts';
import { openClient } from '../providers/resendClient.ts';
import { writtenEmail, type EmailWish, storedEmail } from '../workflows/emails.ts';

const MINUTE = 60_000;
const database = ownDatabase();
const sql = () => database.sql();
const secretsKey = randomBytes(32);
const now = () => Promise.resolve(Date.now());

const ACCEPTED: EmailAnswer = { kind: 'accepted', providerEmailId: 'theirs' };
const UNKNOWN_MAILBOX = { address: 'jan@klient.example', code: '550 5.1.1', permanent: true };
const REFUSED: EmailAnswer = {
  ...{ kind: 'refused', reason: 'recipients_refused', code: '550 5.1.1' },
  refused: [UNKNOWN_MAILBOX],
};
const PUT_OFF: EmailAnswer = { kind: 'later', retryAfterMs: 30_000, code: '450 4.2.0' };

let account: string;
/** What the provider was given, in order. */
let given: SubmitEmail[];
/** What the provider answers, one after the other; the last again and again. */
let answers: (EmailAnswer | Promise<EmailAnswer>)[];
let beforeLeaving: () => Promise<unknown>;
let idempotencyWindowMs: number;
let keyScope: string | undefined;
/** Instead of the one that answers so. */
let usedGate: EmailProvider | undefined;
/** Webhook events that a workflow was given. */
let signalled: string[];
let applied: number;
/** What may be to blame for each answer. */
let suspects: Suspect[];

beforeEach(async () => {
  account = newId('cl');
  [given, answers, signalled, applied, idempotencyWindowMs, usedGate] = [[], [ACCEPTED], [], 0, 0, undefined];
  keyScope = undefined;
  suspects = [];
  beforeLeaving = () => Promise.resolve();
  await sql()`insert into routes (name, kind) values ('simulator', 'simulator') on conflict do nothing`;
  await sql()`
    insert into accounts (id, name, mode, legacy_webhook_url) values (${account}, 'Test', 'live', 'https://klient.example/')`;
  await sql()`insert into ledger_entries (account_id, kind, amount_grosze, test_credits) values (${account}, 'opening', 1000, 100)`;
  await insertDomain(sql(), secretsKey, account);
});
afterEach(() => sql()`delete from sender_domains`);

const gate = (): EmailProvider => ({
  ...{
    idempotencyWindowMs: idempotencyWindowMs,
    answerTimeoutMs: MINUTE,
    ...(keyScope === undefined ? {} : { keyScope }),
  },
  async submit(email, leave) {
    await beforeLeaving();
    if (!(await leave())) return { kind: 'withheld' };
    given.push(email);
    const answer = answers.length > 1 ? answers.shift()! : answers[0]!;
    return await answer;
  },
});

const client = {
  withDeadline: (_deadline: number, work: () => Promise<unknown>) => work(),
  workflow: {
    signalWithStart(_type: string, { signalArgs: [ids] }: { signalArgs: [string[]] }) {
      signalled.push(...ids);
      return Promise.resolve();
    },
  },
} as unknown as Client;
const events = () => createEmailEvents(sql(), client, () => undefined);

let retries = createRetryThrottle();
beforeEach(() => void (retries = createRetryThrottle()));

/** One attempt. @returns what it came to, or what it threw and when it is tried again */
async function attempt(id: string, number = 1): Promise<HandedOver | { again: number }> {
  const provider = emailOnly('simulator', usedGate ?? gate(), {
    start: () => Promise.resolve(),
    state: () => ({ takesSubmits: true }) as never,
    stop: () => Promise.resolve(),
  });
  const handing = {
    ...{ sql: sql(), provider, secretsKey, shortUrl: 'https://s.example' },
    pacer: createPacer(sql(), 'simulator', null),
    routing: () => Promise.resolve({ routes: [], rules: [] }),
    places: createFairSemaphore(2, 1),
    retries,
    emailEvents: { catchUp: () => Promise.resolve(void (applied += 1)) },
    onAnswer: (_answer: unknown, _ms: number, suspect: Suspect) => void suspects.push(suspect),
  };
  const activity = new MockActivityEnvironment({ attempt: number });
  try {
    return await activity.run(() => handOverEmail(handing, id, 0));
  } catch (error) {
    const { nextRetryDelay } = error as { nextRetryDelay?: number | string };
    if (nextRetryDelay === undefined) throw error;
    return { again: Number(nextRetryDelay) };
  }
}

/** Accepted, and waiting to be handed over. */
async function waiting(wish: EmailWish = {}): Promise<string> {
  const { id } = await writtenEmail({ sql: sql(), now }, account, { route: 'simulator', ...wish });
  return id;
}

/** Accepted, and given to a provider that answers when it is told to, and takes whatever comes after that. */
async function held(
  wish: EmailWish = {},
): Promise<{ id: string; answer: (answer: EmailAnswer) => void; first: ReturnType<typeof attempt> }> {
  let answer: (answer: EmailAnswer) => void = () => undefined;
  answers = [new Promise<EmailAnswer>((resolve) => (answer = resolve)), ACCEPTED];
  const id = await waiting(wish);
  const first = attempt(id);
  while (given.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  return { id, answer, first };
}

/** The provider says 'no' to the try that it held: the e-mail has failed, and is refunded once. */
async function expectFailedBy(
  late: EmailAnswer,
  { id, answer, first }: Awaited<ReturnType<typeof held>>,
): Promise<void> {
  answer(late);
  await first;
  const errorCode = late === REFUSED ? 'recipients_refused' : 'answered_late';
  expect(await stored(id)).toMatchObject({ status: 'failed', errorCode, refunds: 1 });
  given = [];
}

const stored = (id: string) => storedEmail({ sql: sql() }, id);
const domainOf = async (id: string) =>
  (await sql()<{ domain: string }[]>`select domain from emails where id = ${id}`)[0]?.domain;
const suppress = (...addresses: string[]) => addSuppressions(sql(), account, addresses);
const claimedAgo = (id: string, ms: number) =>
  sql()`update emails set first_submitted_at = now() - make_interval(secs => ${ms / 1000}) where id = ${id}`;
const refundsOf = async (id: string) => [
  ...(await sql()`
    select amount_grosze::int as grosze, test_credits as credits from ledger_entries
     where subject_id = ${id} and kind = 'refund'`),
];
const statesOf = async (id: string) =>
  (
    await sql()<
      { state: string }[]
    >`select state from email_recipients where email_id = ${id} order by position`
  ).map(({ state }) => state);
const kindsOf = async (id: string) =>
  (await sql()<{ kind: string }[]>`select kind from email_events where email_id = ${id} order by id`).map(
    ({ kind }) => kind,
  );

/** The account's money is what its ledger says, and nobody is owed anything. */
async function expectBooks(balance: number, credits = 100): Promise<void> {
  const [books] = await sql()`
    select balance_grosze::int as balance, test_credits as credits,
           (select sum(amount_grosze)::int from ledger_entries where account_id = a.id) as ledger
      from accounts a where id = ${account}`;
  expect(books).toEqual({ balance, credits, ledger: balance });
  const owed = await sql()`
    select e.id from emails e join ledger_entries c on c.subject_id = e.id and c.kind = 'charge'
     where e.account_id = ${account} and e.status in ('failed', 'suppressed')
       and not exists (select from ledger_entries r where r.subject_id = e.id and r.kind = 'refund')`;
  expect([...owed]).toEqual([]);
}

describe('an e-mail that a relay perhaps refuses for its sender alone', () => {
  it('waits for as long as the answer says, and counts against the route by its account', async () => {
    const broken = { kind: 'broken', code: '550 5.7.64' } as const;
    answers = [{ ...broken, ofSender: { retryAfterMs: 400_000 } }, { kind: 'unanswered' }];
    const id = await waiting();
    expect(await attempt(id)).toEqual({ again: 400_000 });
    expect(await stored(id)).toMatchObject({ status: 'queued', submission: 'waiting', refunds: 0 });
    expect(await attempt(id)).toEqual({ status: 'unanswered' });
    expect(suspects).toEqual([
      { kind: 'account', id: account },
      { kind: 'email', id },
    ]);
  });
});

describe('an e-mail whose only recipient the provider refuses', () => {
  it('has failed and is refunded, and the bounce is an event, suppressed and notified', async () => {
    answers = [REFUSED];
    const id = await waiting();
    expect(await attempt(id)).toEqual({ status: 'failed' });
    expect(await stored(id)).toMatchObject({ status: 'failed', errorCode: 'recipients_refused', refunds: 1 });
    expect(applied).toBe(1);
    await events().catchUp();
    expect(await stored(id)).toMatchObject({ status: 'failed', errorCode: 'recipients_refused', refunds: 1 });
    expect(await kindsOf(id)).toEqual(['failed', 'bounced']);
    expect(await statesOf(id)).toEqual(['bounced']);
    const [{ sentAt } = {}] = await sql()`select sent_at from emails where id = ${id}`;
    expect(sentAt).toBeNull();
    expect(
      await sql()`select address, reason, email_id from suppressions where account_id = ${account}`,
    ).toEqual([{ address: 'jan@klient.example', reason: 'bounce', emailId: id }]);
    expect(signalled).toHaveLength(1);
    await expectBooks(1000);
  });
});

test.each([
  ['was refused', (id: string) => failEmail(sql(), id, 'content_refused', null)],
  ['expired', (id: string) => endEmail(sql(), id)],
  ['was given up', (id: string) => giveUpEmail(sql(), id)],
])('of an e-mail that %s without a hand-over nothing is kept', async (_, end) => {
  const [id, other] = [await waiting({ file: 'a' }), await waiting()];
  expect(await end(id)).toBe('failed');
  expect(await stored(id)).toMatchObject({ pieces: 0, refunds: 1 });
  const bodiesOf = async (email: string) =>
    (await sql()`select html, text from email_contents where email_id = ${email}`)[0];
  expect(await bodiesOf(id)).toEqual({ html: null, text: null });
  expect(await bodiesOf(other)).toEqual({ html: null, text: 'Dzień dobry' });
});

describe('the file of an e-mail', () => {
  async function fileOf(email: SubmitEmail): Promise<string> {
    const pieces: Buffer[] = [];
    for await (const piece of email.attachments[0]!.content()) pieces.push(piece);
    return Buffer.concat(pieces).toString();
  }

  const underWay = async () => {
    const open = await held({ file: 'Regulamin', to: ['jan@klient.example', 'ola@klient.example'] });
    return { ...open, email: given[0]! };
  };

  it('is whole for those that are handed over after events about the first', async () => {
    const { id, email, answer, first } = await underWay();
    for (const kind of ['bounced', 'delivered'] as const) {
      await storeEmailEvents(sql(), 'simulator', [
        {
          ...{ kind, permanent: kind === 'bounced' ? true : null, addresses: ['jan@klient.example'] },
          ...{ eventId: newId('evt'), emailId: id, providerEmailId: null, at: new Date(), payload: {} },
        },
      ]);
      await events().catchUp();
      expect(await fileOf(email)).toBe('Regulamin');
    }
    expect(await kindsOf(id)).toContain('bounced');
    answer(ACCEPTED);
    await first;
    expect(await stored(id)).toMatchObject({ pieces: 0 });
  });

  it('is not handed over cut short where the e-mail is over meanwhile', async () => {
    const { id, email, answer, first } = await underWay();
    await sql()`delete from email_attachment_pieces where email_id = ${id}`;
    await expect(fileOf(email)).rejects.toThrow('0 of 9 octets');
    answer(ACCEPTED);
    await first;
  });
});

it('what an answer says beside yes is stored with it: the next attempt has nothing to make up for', async () => {
  const refused = [{ address: 'ola@klient.example', code: '550 5.1.1', permanent: true }];
  answers = [{ ...ACCEPTED, refused }];
  const id = await waiting({ to: ['jan@klient.example', 'ola@klient.example'] });
  // The worker is lost as soon as the e-mail is sent.
  await sql()`
    create or replace function lose_worker() returns trigger language plpgsql as $$
    begin raise exception 'the worker is lost'; end $$`;
  await sql()`create trigger lost before insert on provider_email_events for each row execute function lose_worker()`;
  const first = attempt(id);
  await eventually(
    () => stored(id),
    ({ submission }) => submission === 'submitting',
  );
  expect(await stored(id)).toMatchObject({ status: 'queued' });
  await sql()`drop trigger lost on provider_email_events`;
  expect(await first).toEqual({ status: 'sent' });
  await events().catchUp();
  expect(await kindsOf(id)).toEqual(['sent', 'bounced']);
  expect(await statesOf(id)).toEqual(['sent', 'bounced']);
});

describe('a try whose heartbeat was lost, at a provider without a key', () => {
  /** Hands over; the provider answers when it is told to. */
  it('is waited for, and its "not now" has the e-mail handed over again', async () => {
    const { id, answer, first } = await held();
    expect(await attempt(id)).toEqual({ again: 10_000 });
    expect(await stored(id)).toMatchObject({ submission: 'submitting' });
    answer(PUT_OFF);
    expect(await first).toEqual({ again: 30_000 });
    expect(await attempt(id)).toEqual({ status: 'sent' });
    expect(given).toHaveLength(2);
    expect(await stored(id)).toMatchObject({ status: 'sent', refunds: 0 });
  });

  it('is given up once no answer can come any more; a "no" that comes all the same fails it', async () => {
    for (const late of [REFUSED, PUT_OFF]) {
      const { id, answer, first } = await held();
      await claimedAgo(id, 45_000);
      expect(await attempt(id)).toMatchObject({ again: expect.any(Number) as number });
      await claimedAgo(id, 91_000);
      expect(await attempt(id)).toEqual({ status: 'unanswered' });
      expect(await stored(id)).toMatchObject({ status: 'queued', submission: 'unanswered' });
      await expectFailedBy(late, { id, answer, first });
    }
    await expectBooks(1000);
  });

  it('is not known once the wait for events is over; a "no" that comes after that fails it, too', async () => {
    for (const late of [REFUSED, PUT_OFF]) {
      const { id, answer, first } = await held({ file: 'a' });
      expect(await endEmail(sql(), id)).toBe('unknown');
      expect(await stored(id)).toMatchObject({ status: 'unknown', refunds: 0 });
      await expectFailedBy(late, { id, answer, first });
    }
    await expectBooks(1000);
  });

  it('stays unknown after a "no" where those who were left out of it are refunded: it has one refund', async () => {
    beforeLeaving = async () => {
      beforeLeaving = () => Promise.resolve();
      await suppress('jan@klient.example');
    };
    const to = ['jan@klient.example', 'ola@klient.example'];
    const id = await waiting({ to });
    await attempt(id);
    let answer: (answer: EmailAnswer) => void = () => undefined;
    answers = [new Promise<EmailAnswer>((resolve) => (answer = resolve))];
    const first = attempt(id);
    while (given.length < 1) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await endEmail(sql(), id)).toBe('unknown');
    await expectBooks(999);
    answer(PUT_OFF);
    await first;
    expect(await stored(id)).toMatchObject({ status: 'unknown', refunds: 1 });
    await expectBooks(999);
  });

  it('put back as its time is over, it fails: whoever ends it sees that', async () => {
    const id = await waiting();
    const claim = await claimEmail(sql(), id, { route: 'simulator', again: false, keyScope: null });
    let ended: Promise<unknown> | undefined;
    await sql().begin(async (tx) => {
      await releaseEmailClaim(tx, id, { claim: claim!, first: true, code: null });
      const [{ pid } = { pid: 0 }] = await tx<{ pid: number }[]>`select pg_backend_pid() as pid`;
      ended = endEmail(sql(), id);
      await eventually(
        async () =>
          (await sql()`select from pg_stat_activity where ${pid} = any(pg_blocking_pids(pid))`).count,
        (waits) => waits > 0,
      );
    });
    expect(await ended).toBe('failed');
    expect(await stored(id)).toMatchObject({ status: 'failed', refunds: 1 });
  });

  it('that nobody answers stays unanswered: it is not repeated, and paid', async () => {
    const { id, answer, first } = await held();
    await claimedAgo(id, 91_000);
    expect(await attempt(id)).toEqual({ status: 'unanswered' });
    answer({ kind: 'unanswered' });
    await first;
    expect(await attempt(id)).toEqual({ status: 'unanswered' });
    expect(given).toHaveLength(1);
    expect(await endEmail(sql(), id)).toBe('unknown');
    await expectBooks(999);
  });
});

describe('at a provider with a key', () => {
  beforeEach(() => {
    idempotencyWindowMs = 24 * 60 * MINUTE;
  });

  it('a late "not now" takes back its own try and no other’s', async () => {
    const tell: ((answer: EmailAnswer) => void)[] = [];
    const later = () => new Promise<EmailAnswer>((resolve) => tell.push(resolve));
    answers = [later(), later()];
    const id = await waiting();
    const first = attempt(id);
    while (given.length < 1) await new Promise((resolve) => setTimeout(resolve, 5));
    const second = attempt(id);
    while (given.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
    tell[0]!({ kind: 'throttled', retryAfterMs: 1_000 });
    await first;
    expect(await stored(id)).toMatchObject({ submission: 'submitting' });
    tell[1]!({ kind: 'unanswered' });
    expect(await second).toMatchObject({ again: 5_000 });
    expect(await stored(id)).toMatchObject({ submission: 'unanswered', refunds: 0 });
  });

  it('it is asked the less often the longer it has not answered', async () => {
    answers = [{ kind: 'unanswered' }];
    const id = await waiting();
    expect(await attempt(id)).toEqual({ again: 5_000 });
    for (const [ageMs, againMs] of [
      [4_000, 5_000],
      [2 * MINUTE, MINUTE],
      [60 * MINUTE, 5 * MINUTE],
    ] as const) {
      await claimedAgo(id, ageMs);
      const { again } = (await attempt(id)) as { again: number };
      expect(again).toBeGreaterThanOrEqual(againMs);
      expect(again).toBeLessThan(againMs * 2);
    }
  });

  it('another account of it is not asked: it does not know the key, and would send it again', async () => {
    [keyScope, answers] = ['first team', [{ kind: 'unanswered' }]];
    const id = await waiting();
    expect(await attempt(id)).toEqual({ again: 5_000 });
    keyScope = 'other team';
    expect(await attempt(id)).toEqual({ status: 'unanswered' });
    expect(given).toHaveLength(1);
    [keyScope, answers] = ['first team', [ACCEPTED]];
    expect(await attempt(id)).toEqual({ status: 'sent' });
    expect(given).toHaveLength(2);
  });

  it('a try that it certainly has not got may go to another account of it', async () => {
    [keyScope, answers] = [
      'first team',
      [{ kind: 'throttled', retryAfterMs: 1_000 }, { kind: 'unanswered' }, ACCEPTED],
    ];
    const id = await waiting();
    await attempt(id);
    keyScope = 'other team';
    expect(await attempt(id)).toEqual({ again: 5_000 });
    expect(await attempt(id)).toEqual({ status: 'sent' });
  });

  it('what was handed over before scopes were kept is asked about as before', async () => {
    answers = [{ kind: 'unanswered' }, ACCEPTED];
    const id = await waiting();
    await attempt(id);
    keyScope = 'a team';
    expect(await attempt(id)).toEqual({ status: 'sent' });
  });

  it('it is asked no more once it says that no answer will ever tell', async () => {
    answers = [{ kind: 'unanswered', code: 'invalid_idempotent_request', final: true }];
    const id = await waiting();
    expect(await attempt(id)).toEqual({ status: 'unanswered' });
    expect(await stored(id)).toMatchObject({ status: 'queued', submission: 'unanswered' });
  });

  it('a "no" to a later try does not say that the first was not taken: it is paid, and events count', async () => {
    answers = [
      { kind: 'unanswered' },
      { kind: 'refused', reason: 'sender_refused', code: 'validation_error' },
    ];
    const id = await waiting();
    await attempt(id);
    for (let n = 0; n < 2; n += 1) expect(await attempt(id)).toEqual({ again: 5_000 });
    expect(await stored(id)).toMatchObject({
      ...{ status: 'queued', submission: 'unanswered', errorCode: 'validation_error', refunds: 0 },
    });
    // The key is not good for ever.
    await claimedAgo(id, idempotencyWindowMs);
    expect(await attempt(id)).toEqual({ status: 'unanswered' });
    expect(await endEmail(sql(), id)).toBe('unknown');
    await expectBooks(999);
    const event = { kind: 'delivered', permanent: null, addresses: [], at: new Date(), payload: {} } as const;
    await storeEmailEvents(sql(), 'simulator', [
      { ...event, eventId: newId('evt'), emailId: id, providerEmailId: null },
    ]);
    await events().catchUp();
    expect(await stored(id)).toMatchObject({ status: 'delivered', refunds: 0 });
    await expectBooks(999);
  });

  it('a "no" to a field of it does: no try of the same e-mail was taken', async () => {
    answers = [{ kind: 'unanswered' }, { kind: 'refused', reason: 'recipients_refused', always: true }];
    const id = await waiting();
    await attempt(id);
    expect(await attempt(id)).toEqual({ status: 'failed' });
    expect(await stored(id)).toMatchObject({ status: 'failed', refunds: 1 });
    await expectBooks(1000);
  });

  it('at Resend, which has taken it and whose team lost the domain since, it stays open until it can tell', async () => {
    const { resend, client: provider } = await openClient();
    resend.checksDomainFirst = true;
    resend.next(async (response, take) => {
      await take();
      response.destroy();
    });
    usedGate = provider.email!;
    const id = await waiting();
    const [listed] = resend.domains;
    resend.domains.push({ ...listed!, id: 'd2', name: (await domainOf(id))! });
    expect(await attempt(id)).toEqual({ again: 5_000 });
    const [theirs] = resend.domains.splice(1);
    expect(await attempt(id)).toEqual({ again: 5_000 });
    expect(await stored(id)).toMatchObject({ status: 'queued', submission: 'unanswered', refunds: 0 });
    resend.domains.push(theirs!);
    expect(await attempt(id)).toEqual({ status: 'sent' });
    expect(resend.sent).toHaveLength(1);
    await expectBooks(999);
  });

  it('it is asked also when the sender’s domain has been removed since', async () => {
    answers = [{ kind: 'unanswered' }, ACCEPTED];
    const id = await waiting();
    await attempt(id);
    await sql()`delete from sender_domains where account_id = ${account}`;
    expect(await attempt(id)).toEqual({ status: 'sent' });
    expect(given.map(({ from, to, subject }) => ({ from, to, subject }))).toEqual([
      ...[given[0], given[0]].map((one) => ({ from: one!.from, to: one!.to, subject: one!.subject })),
    ]);
  });
});

describe('who came onto the suppression list since the e-mail was accepted', () => {
  const to = ['Jan@klient.example', 'ola@klient.example', 'ewa@klient.example'];
  const addressesGiven = () => given.map((email) => email.to);

  it('is left out, with an event, and refunded once a provider has it', async () => {
    const id = await waiting({ to });
    await suppress('jan@klient.example');
    expect(await attempt(id)).toEqual({ status: 'sent' });
    expect(addressesGiven()).toEqual([to.slice(1)]);
    expect(await statesOf(id)).toEqual(['suppressed', 'sent', 'sent']);
    expect(await kindsOf(id)).toEqual(['suppressed']);
    expect(await refundsOf(id)).toEqual([{ grosze: 1, credits: 0 }]);
    await attempt(id);
    await expectBooks(998);
  });

  it('is left out at the last moment too, and where it comes between two tries that nobody took', async () => {
    answers = [PUT_OFF, ACCEPTED];
    const id = await waiting({ to });
    beforeLeaving = () => suppress('jan@klient.example');
    expect(await attempt(id)).toMatchObject({ again: 100 });
    expect(given).toEqual([]);
    beforeLeaving = () => Promise.resolve();
    expect(await attempt(id)).toEqual({ again: 30_000 });
    await suppress('ola@klient.example');
    expect(await attempt(id)).toEqual({ status: 'sent' });
    expect(addressesGiven()).toEqual([to.slice(1), to.slice(2)]);
    expect(await refundsOf(id)).toEqual([{ grosze: 2, credits: 0 }]);
    await expectBooks(999);
  });

  it('gets its test credits back', async () => {
    const id = await waiting({ to, testCredits: to.length });
    await suppress('jan@klient.example', 'ola@klient.example');
    await attempt(id);
    expect(await refundsOf(id)).toEqual([{ grosze: 0, credits: 2 }]);
    await expectBooks(1000, 99);
  });

  it('alone: it is over, refunded, and nothing of it is kept', async () => {
    const id = await waiting({ to, file: 'a' });
    await suppress(...to.map((address) => address.toLowerCase()));
    expect(await attempt(id)).toEqual({ status: 'failed' });
    expect(given).toEqual([]);
    expect(await stored(id)).toMatchObject({ status: 'suppressed', submission: 'answered', pieces: 0 });
    expect(await kindsOf(id)).toEqual(['suppressed', 'suppressed', 'suppressed']);
    expect(await refundsOf(id)).toEqual([{ grosze: 3, credits: 0 }]);
    expect(await sql()`select html, text from email_contents where email_id = ${id}`).toEqual([
      { html: null, text: null },
    ]);
    expect(await endEmail(sql(), id)).toBe('suppressed');
    await expectBooks(1000);
  });

  it('is refunded with the rest where the others are refused, and one time where an event proves that they have it', async () => {
    answers = [{ kind: 'refused', reason: 'content_refused' }];
    const refused = await waiting({ to });
    await suppress('jan@klient.example');
    await attempt(refused);
    expect(await refundsOf(refused)).toEqual([{ grosze: 3, credits: 0 }]);
    await expectBooks(1000);

    answers = [{ kind: 'unanswered' }];
    const proven = await waiting({ to: to.slice(1) });
    await suppress('ola@klient.example');
    await attempt(proven);
    expect(await refundsOf(proven)).toEqual([]);
    const event = { kind: 'delivered', permanent: null, addresses: [], at: new Date(), payload: {} } as const;
    await storeEmailEvents(sql(), 'simulator', [
      { ...event, eventId: newId('evt'), emailId: proven, providerEmailId: null },
    ]);
    await events().catchUp();
    expect(await stored(proven)).toMatchObject({ status: 'delivered' });
    expect(await refundsOf(proven)).toEqual([{ grosze: 1, credits: 0 }]);
    await expectBooks(999);
  });

  it('stays in it where an earlier try was not answered, as the provider’s key is good for the same e-mail alone', async () => {
    idempotencyWindowMs = 24 * 60 * MINUTE;
    answers = [{ kind: 'unanswered' }, ACCEPTED];
    const id = await waiting({ to });
    await attempt(id);
    await suppress('jan@klient.example');
    expect(await attempt(id)).toEqual({ status: 'sent' });
    expect(addressesGiven()).toEqual([to, to]);
    expect(await refundsOf(id)).toEqual([]);
    await expectBooks(997);
  });
});

test('events of an e-mail that somebody has locked wait apart from those of others', async () => {
  const [held, free] = [await waiting(), await waiting()];
  const delivered = (emailId: string) => ({
    ...{
      eventId: newId('evt'),
      emailId,
      providerEmailId: 'theirs',
      kind: 'delivered' as const,
      permanent: null,
    },
    ...{ addresses: ['jan@klient.example'], at: new Date(), payload: {} },
  });
  await storeEmailEvents(sql(), 'simulator', [delivered(held), delivered(free)]);
  await sql().begin(async (own) => {
    await own`select from emails where id = ${held} for update`;
    // Where it waited for the locked one, it would wait for good: that is let go after this.
    await events().catchUp();
    expect(await stored(free)).toMatchObject({ status: 'delivered' });
  });
  expect(await stored(held)).toMatchObject({ status: 'queued' });
  const told = async (id: string) => {
    const notified = await sql()<{ id: string }[]>`select id from webhook_events where subject_id = ${id}`;
    return notified.map((event) => signalled.includes(event.id));
  };
  expect([await told(held), await told(free)]).toEqual([[], [true]]);
  await sql()`update provider_email_events set look_at = now() where email_id = ${held}`;
  await events().catchUp();
  expect(await stored(held)).toMatchObject({ status: 'delivered' });
  expect(await told(held)).toEqual([true]);
});

describe('what happened to its account or domain since it was accepted', () => {
  const setStatus = (status: string) => sql()`update accounts set status = ${status} where id = ${account}`;

  it('suspended: it is looked again ever less often whether it goes, every ten minutes at least', async () => {
    const id = await waiting();
    await setStatus('suspended');
    for (const [number, again] of [
      [1, MINUTE],
      [2, 2 * MINUTE],
      [4, 8 * MINUTE],
      [5, 10 * MINUTE],
      [5_000, 10 * MINUTE],
    ] as const)
      expect(await attempt(id, number)).toEqual({ again });
    expect(given).toEqual([]);
    await setStatus('active');
    expect(await attempt(id, 5)).toEqual({ status: 'sent' });
    await expectBooks(999);
  });

  /** As if so many e-mails had just asked for the same as this one. */
  async function asked(id: string, many: number): Promise<void> {
    const pace = retries;
    let last = '';
    retries = { ...pace, delayFor: (what, usualMs) => pace.delayFor((last = what), usualMs) };
    await attempt(id, 20).catch(() => undefined);
    for (let i = 1; i < many; i += 1) pace.delayFor(last, MINUTE);
  }

  it('suspended, with very many e-mails: twenty look in a second, until it is active again', async () => {
    const [id, later] = [await waiting(), await waiting()];
    await setStatus('suspended');
    await asked(id, 100_000);
    const { again } = (await attempt(id, 20)) as { again: number };
    expect(again).toBeGreaterThan(80 * MINUTE);
    await setStatus('active');
    expect(await attempt(id, 20)).toEqual({ status: 'sent' });
    await setStatus('suspended');
    expect(await attempt(later)).toEqual({ again: MINUTE });
  });

  it('no longer verified for its route, with very many e-mails: twenty look in a second, and none reads its contents', async () => {
    const id = await waiting();
    const [{ domainId = '' } = {}] = await sql()<{ domainId: string }[]>`
      select d.id as domain_id from sender_domains d where d.account_id = ${account}`;
    await sql()`update sender_domains set confirmed_at = null where id = ${domainId}`;
    await sql()`delete from sender_domain_routes where domain_id = ${domainId}`;
    await expect(attempt(id)).rejects.toMatchObject({ type: FAILURE.routeUnavailable });
    await asked(id, 10_000);
    const { again } = (await attempt(id, 20)) as { again: number };
    expect(again).toBeGreaterThan(8 * MINUTE);
    expect(await readSubmittableEmail(sql(), id)).toMatchObject({ status: 'queued', html: null, text: null });
  });

  it('closed: it has failed and is refunded, and nothing leaves', async () => {
    const id = await waiting();
    await setStatus('suspended');
    await attempt(id);
    await setStatus('closed');
    expect(await attempt(id)).toEqual({ status: 'failed' });
    expect(given).toEqual([]);
    expect(await stored(id)).toMatchObject({ status: 'failed', errorCode: 'account_closed', refunds: 1 });
    await expectBooks(1000);
  });

  it('without its domain: it has failed and is refunded, and nothing leaves, though another account has it now', async () => {
    const id = await waiting();
    const name = (await domainOf(id))!;
    await sql()`delete from sender_domains where account_id = ${account}`;
    const other = newId('cl');
    await sql()`insert into accounts (id, name, mode) values (${other}, 'Test', 'live')`;
    await insertDomain(sql(), secretsKey, other, { name });
    expect(await attempt(id)).toEqual({ status: 'failed' });
    expect(given).toEqual([]);
    expect(await stored(id)).toMatchObject({
      ...{ status: 'failed', errorCode: 'sender_domain_removed', refunds: 1 },
    });
    await expectBooks(1000);
  });
});
