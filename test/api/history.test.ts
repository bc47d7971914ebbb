import { Client, Connection } from '@temporalio/client';
import { describe, expect, inject, it } from 'vitest';
import { cancelScheduled } from '../../db/money/billing.ts';
import { lockRow } from '../crash/holds.ts';
import { decided } from '../support/decided.ts';
import { eventually } from '../support/eventually.ts';
import { books, database, newAccount, type TestAccount } from '../support/factories.ts';
import { refusal } from './refusal.ts';

const ahead = (ms: number) => new Date(Date.now() + ms).toISOString();
const later = ahead(86_400_000);
const number = (i: number) => `+48500${String(200_000 + i)}`;

async function sendMany({ api }: TestAccount, count: number, more: object = {}): Promise<string[]> {
  const to = Array.from({ length: count }, (_, i) => number(i));
  const body = await api.accepted({ to, text: 'x', send_at: later, ...more });
  return body.messages.map(({ id }) => id);
}

const cancel = ({ api }: TestAccount, id: string | undefined) =>
  decided(() => api.delete(`/v1/messages/${id}`));

describe('GET /v1/messages', () => {
  it('pages newest first, 50 by default, and ends with a null cursor', async () => {
    const account = await newAccount();
    const ids = await sendMany(account, 120);
    const seen: string[] = [];
    const sizes: number[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const { body } = await account.api.get(`/v1/messages${cursor === '' ? '' : `?cursor=${cursor}`}`);
      seen.push(...body.data.map(({ id }) => id));
      sizes.push(body.data.length);
      cursor = body.next_cursor;
    }
    expect(sizes).toEqual([50, 50, 20]);
    expect(seen).toEqual([...ids].reverse());
  });

  it('a last page that is full has no cursor; limit goes up to 200', async () => {
    const account = await newAccount();
    await sendMany(account, 10);
    expect((await account.api.get('/v1/messages?limit=10')).body.next_cursor).toBeNull();
    expect((await account.api.get('/v1/messages?limit=9')).body.next_cursor).toMatch(/^[\w-]+$/);
    expect((await account.api.get('/v1/messages?limit=200')).body.data).toHaveLength(10);
  });

  it('filters by when they were accepted, from the start on and before the end', async () => {
    const account = await newAccount();
    const [first] = await sendMany(account, 1);
    const [second] = await sendMany(account, 1);
    const { created_at: at } = (await account.api.get(`/v1/messages/${second}`)).body;
    const ids = async (query: string) =>
      (await account.api.get(`/v1/messages?${query}`)).body.data.map(({ id }) => id);
    expect(await ids(`since=${at}`)).toEqual([second]);
    expect(await ids(`until=${at}`)).toEqual([first]);
    expect(await ids(`since=${at}&until=${at}`)).toEqual([]);
    expect(await ids('since=2020-01-01T00:00:00Z&until=2099-01-01T00:00:00Z')).toEqual([second, first]);
  });

  it('filters by status, reference and number, together and over pages', async () => {
    const account = await newAccount();
    const [first] = await sendMany(account, 6, { reference: 'a' });
    await sendMany(account, 6, { reference: 'a b&c=ż' });
    await cancel(account, first);
    const list = async (query: string) => (await account.api.get(`/v1/messages?${query}`)).body;
    expect((await list('status=cancelled')).data.map(({ id }) => id)).toEqual([first]);
    expect((await list('status=delivered')).data).toEqual([]);
    expect((await list('reference=a')).data).toHaveLength(6);
    expect((await list(`reference=${encodeURIComponent('a b&c=ż')}`)).data).toHaveLength(6);
    expect((await list('reference=A')).data).toEqual([]);
    for (const to of ['%2B48500200003', '48500200003', '500200003']) {
      expect((await list(`to=${to}`)).data.map((message) => message.to)).toEqual([number(3), number(3)]);
    }
    expect((await list('to=500200003&reference=a&status=scheduled')).data).toHaveLength(1);
    const page = await list('reference=a&status=scheduled&limit=3');
    const rest = await list(`reference=a&status=scheduled&limit=3&cursor=${page.next_cursor}`);
    expect([page.data.length, rest.data.length, rest.next_cursor]).toEqual([3, 2, null]);
  });

  it('a message sent at once becomes delivered', async () => {
    const { api } = await newAccount();
    const body = await api.accepted({ to: '500100200', text: 'x' });
    const done = await eventually(
      async () => (await api.get(`/v1/messages/${body.id}`)).body,
      ({ status }) => status === 'delivered',
    );
    expect(done).toMatchObject({ delivered_at: expect.any(String) as string, error: null });
    const refused = await api.accepted({ to: '500100902', text: 'x' });
    const failed = await eventually(
      async () => (await api.get(`/v1/messages/${refused.id}`)).body,
      ({ status }) => status === 'failed',
    );
    expect(failed).toMatchObject({ error: expect.stringContaining('odrzucona') as string });
  });
});

describe('DELETE /v1/messages/{id}', () => {
  it('cancels a scheduled message, gives the money back once, and repeats its answer', async () => {
    const account = await newAccount({ balance: 100, price: 10 });
    const body = await account.api.accepted({ to: '500100200', text: 'x', send_at: later });
    const first = await cancel(account, body.id);
    expect(first).toMatchObject({
      status: 200,
      body: { id: body.id, status: 'cancelled', send_at: body.send_at },
    });
    const again = await cancel(account, body.id);
    expect([again.status, again.text]).toEqual([200, first.text]);
    expect(await books(account.id)).toMatchObject({ balance: 100, ledger: 100 });
  });

  it('cancels a message whose workflow was terminated by hand', async () => {
    const account = await newAccount({ balance: 100, price: 10 });
    const body = await account.api.accepted({ to: '500100200', text: 'x', send_at: later });
    const connection = await Connection.connect({ address: inject('service').temporalAddress });
    const handle = new Client({ connection }).workflow.getHandle(body.id);
    // Accepted with others it has its workflow a moment later.
    await eventually(
      () =>
        handle.terminate('by hand').then(
          () => true,
          () => false,
        ),
      (done) => done,
    );
    expect(await cancel(account, body.id)).toMatchObject({ status: 200, body: { status: 'cancelled' } });
    await connection.close();
    expect(await books(account.id)).toMatchObject({ balance: 100, ledger: 100 });
  });

  it('asked again, ends a workflow that lost its memory of the cancel', async () => {
    const account = await newAccount({ balance: 100, price: 10 });
    const body = await account.api.accepted({ to: '500100200', text: 'x', send_at: later });
    // What a crash of workers and Temporal right after the step's commit leaves.
    expect(await cancelScheduled(database(), body.id)).toBe('cancelled');
    const { temporalAddress } = inject('service');
    const connection = await Connection.connect({ address: temporalAddress });
    const state = async () =>
      (await new Client({ connection }).workflow.getHandle(body.id).describe()).status.name;
    // Accepted with others it has its workflow a moment later.
    await eventually(
      () => state().catch(() => null),
      (name) => name === 'RUNNING',
    );
    expect((await cancel(account, body.id)).status).toBe(200);
    await eventually(state, (name) => name === 'COMPLETED');
    await connection.close();
    expect(await books(account.id)).toMatchObject({ balance: 100, ledger: 100 });
  });

  it('ends the workflow also where the server throws its task away with the cancel in it', async () => {
    const connection = await Connection.connect({ address: inject('service').temporalAddress });
    const client = new Client({ connection });
    /** @returns whether that was shown: the signal may come between two tasks, or the cancel not be decided in time */
    const cancelWithSignal = async (): Promise<boolean> => {
      const account = await newAccount({ balance: 100, price: 10 });
      const body = await account.api.accepted({ to: '500100200', text: 'x', send_at: later });
      const handle = client.workflow.getHandle(body.id);
      const lock = await lockRow(database(), 'message', body.id);
      try {
        const cancelling = account.api.delete(`/v1/messages/${body.id}`);
        await lock.untilWaitedFor();
        // Comes while the task is under way that would end the workflow: it cannot end then.
        await handle.signal('unheard');
        await lock.release();
        const answer = await cancelling;
        if (answer.status === 504) return false;
        expect(answer).toMatchObject({ status: 200, body: { status: 'cancelled' } });
      } finally {
        await lock.release();
      }
      await eventually(
        async () => (await handle.describe()).status.name,
        (name) => name === 'COMPLETED',
      );
      expect(await books(account.id)).toMatchObject({ balance: 100, ledger: 100 });
      const { events = [] } = await handle.fetchHistory();
      return events!.some((event) => event.workflowTaskFailedEventAttributes);
    };
    try {
      await eventually(cancelWithSignal, (thrownAway) => thrownAway);
    } finally {
      await connection.close();
    }
  });

  it('gives a test credit back', async () => {
    const account = await newAccount({
      mode: 'test',
      balance: 0,
      testCredits: 1,
      verified: ['+48500100200'],
    });
    const body = await account.api.accepted({ to: '500100200', text: 'x', send_at: later });
    expect(await books(account.id)).toMatchObject({ credits: 0 });
    await cancel(account, body.id);
    expect(await books(account.id)).toMatchObject({ balance: 0, credits: 1 });
  });

  it('twenty at once: all get 200, one refund', async () => {
    const account = await newAccount({ balance: 100, price: 10 });
    const body = await account.api.accepted({ to: '500100200', text: 'x', send_at: later });
    const answers = await Promise.all(Array.from({ length: 20 }, () => cancel(account, body.id)));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
    expect(await books(account.id)).toMatchObject({ balance: 100, ledger: 100 });
  });

  it('reaches messages of a batch, also right after it was accepted', async () => {
    const account = await newAccount({ balance: 1000, price: 10 });
    const ids = await sendMany(account, 20);
    const answers = await Promise.all(ids.map((id) => cancel(account, id)));
    expect(answers.map(({ body }) => body.status)).toEqual(ids.map(() => 'cancelled'));
    expect(await books(account.id)).toMatchObject({ balance: 1000, ledger: 1000 });
  });

  it('less than 30 s before its time: 409, unchanged', async () => {
    const account = await newAccount({ balance: 100, price: 10 });
    const body = await account.api.accepted({ to: '500100200', text: 'x', send_at: ahead(29_000) });
    const answer = await cancel(account, body.id);
    expect(answer).toMatchObject(refusal(409));
    // However late it is by now.
    const now = (await account.api.get(`/v1/messages/${body.id}`)).body;
    expect(['scheduled', 'queued', 'sent', 'delivered']).toContain(now.status);
    expect(now.send_at).toBe(body.send_at);
    expect(await books(account.id)).toMatchObject({ balance: 90, ledger: 90 });
  });

  it('any other status gives 409', async () => {
    const account = await newAccount();
    const body = await account.api.accepted({ to: '500100903', text: 'x' });
    for (const status of ['queued', 'sent']) {
      await eventually(
        async () => (await account.api.get(`/v1/messages/${body.id}`)).body.status,
        (now) => now === status || now === 'sent',
      );
      expect((await account.api.delete(`/v1/messages/${body.id}`)).status).toBe(409);
    }
  });

  it('the ledger shows a charge and a refund', async () => {
    const account = await newAccount({ balance: 100, price: 10 });
    const body = await account.api.accepted({ to: '500100200', text: 'x', send_at: later });
    await cancel(account, body.id);
    const entries = await database()`
      select kind, amount_grosze from ledger_entries where subject_id = ${body.id} order by id`;
    expect([...entries]).toEqual([
      { kind: 'charge', amountGrosze: -10 },
      { kind: 'refund', amountGrosze: 10 },
    ]);
  });
});
