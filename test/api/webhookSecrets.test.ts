import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { database, newAccount, type TestAccount } from '../support/factories.ts';
import { eventually } from '../support/eventually.ts';
import { startHttpReceiver } from '../support/httpReceiver.ts';

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

type Verify = (headers: IncomingHttpHeaders, raw: Buffer, secrets: string[]) => boolean;

const hmac = (secret: string, t: string, raw: Buffer): Buffer =>
  createHmac('sha256', secret).update(`${t}.`).update(raw).digest();
const fits = (secret: string, t: string, raw: Buffer, hex: string): boolean => {
  const given = Buffer.from(hex, 'hex');
  const expected = hmac(secret, t, raw);
  return given.length === expected.length && timingSafeEqual(given, expected);
};
const header = (headers: IncomingHttpHeaders, name = 'x-service-signature'): string => String(headers[name]);
const pairs = (text: string): [string, string][] =>
  text.split(',').map((pair) => pair.trim().split('=') as [string, string]);

/** Receivers as people write them from the interface's document. */
const RECEIVERS: Record<string, Verify> = {
  'one that takes the whole header by a pattern': (headers, raw, [secret]) => {
    const [, t, v1] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(header(headers)) ?? [];
    return t !== undefined && v1 !== undefined && fits(secret!, t, raw, v1);
  },
  'one that searches for the first v1': (headers, raw, [secret]) => {
    const t = /t=(\d+)/.exec(header(headers))![1]!;
    return fits(secret!, t, raw, /v1=([0-9a-f]+)/.exec(header(headers))![1]!);
  },
  'one that splits at commas into a map, the last v1 wins': (headers, raw, [secret]) => {
    const map = new Map(pairs(header(headers)));
    return map.size === 2 && fits(secret!, map.get('t')!, raw, map.get('v1')!);
  },
  'one that compares the header with what it would write itself': (headers, raw, [secret]) => {
    const t = /^t=(\d+)/.exec(header(headers))![1]!;
    return header(headers) === `t=${t},v1=${hmac(secret!, t, raw).toString('hex')}`;
  },
};

/** One that knows both headers, and both secrets or one. */
const careful: Verify = (headers, raw, secrets) =>
  ['x-service-signature', 'x-service-signature-other']
    .filter((name) => headers[name] !== undefined)
    .some((name) => {
      const map = new Map(pairs(header(headers, name)));
      return secrets.some((secret) => fits(secret, map.get('t')!, raw, map.get('v1')!));
    });

async function receiver(verify: Verify) {
  const known: string[] = [];
  const calls: { type: string; taken: boolean; headers: IncomingHttpHeaders }[] = [];
  const server = await startHttpReceiver((response, raw, { headers }) => {
    const taken = verify(headers, raw, known);
    calls.push({ type: (JSON.parse(raw.toString()) as { type: string }).type, taken, headers });
    response.writeHead(taken ? 200 : 401).end();
  });
  open.push(() => server.close());
  return { url: `${server.url}/hook`, known, calls };
}

async function secretOf({ api }: TestAccount, url: string, rotate = false): Promise<string> {
  return (await api.put('/v1/account/webhook', { url, rotate_secret: rotate })).body.webhook_secret;
}

/** One event (message.failed); how many calls it took. */
async function tell(account: TestAccount, calls: unknown[]): Promise<number> {
  const before = calls.length;
  const { body } = await account.api.send({ to: '500100902', text: 'x' });
  await eventually(
    async () =>
      await database()<{ state: string }[]>`select state from webhook_events where message_id = ${body.id}`,
    (rows) => rows[0]?.state === 'delivered',
  );
  return calls.length - before;
}

describe('after a change of the secret', () => {
  it.each(Object.entries(RECEIVERS))(
    '%s is told with the old one as with the new one',
    async (_name, verify) => {
      const account = await newAccount();
      const { url, known, calls } = await receiver(verify);
      known[0] = await secretOf(account, url);
      expect(await tell(account, calls)).toBe(1);
      const next = await secretOf(account, url, true);
      expect(await tell(account, calls)).toBe(1);
      known[0] = next;
      // The first attempt is refused, the second one is signed with the other secret: from then on it is the first.
      expect(await tell(account, calls)).toBe(2);
      expect(await tell(account, calls)).toBe(1);
    },
    60_000,
  );

  it('one that reads both headers loses no attempt, whichever secret it knows', async () => {
    const account = await newAccount();
    const { url, known, calls } = await receiver(careful);
    const old = await secretOf(account, url);
    const next = await secretOf(account, url, true);
    for (const secrets of [[old], [next], [old, next]]) {
      known.splice(0, 2, ...secrets);
      expect(await tell(account, calls)).toBe(1);
    }
  }, 60_000);

  it('a change that is repeated before anybody had the new one keeps the one that is in use', async () => {
    const account = await newAccount();
    const { url, known, calls } = await receiver(RECEIVERS['one that takes the whole header by a pattern']!);
    known[0] = await secretOf(account, url);
    await secretOf(account, url, true);
    const last = await secretOf(account, url, true);
    expect(await tell(account, calls)).toBe(1);
    known[0] = last;
    expect(await tell(account, calls)).toBe(2);
  }, 60_000);

  it('ends after a day: then only the new one signs, and the old one is forgotten', async () => {
    const account = await newAccount();
    const { url, known, calls } = await receiver(careful);
    await secretOf(account, url);
    known[0] = await secretOf(account, url, true);
    await database()`
      update accounts set webhook_secret_changed_at = now() - interval '24 hours' where id = ${account.id}`;
    expect(await tell(account, calls)).toBe(1);
    expect(calls.at(-1)!.headers).not.toHaveProperty('x-service-signature-other');
    await eventually(
      async () =>
        await database()`
        select webhook_secret_before as before from accounts where id = ${account.id}`,
      ([row]) => row?.['before'] === null,
      30_000,
    );
  }, 60_000);
});
