import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { ACTOR, commandLine, listIn } from '../admin/support.ts';
import { database, newAccount, type TestAccount } from '../support/factories.ts';
import { eventually } from '../support/eventually.ts';
import { startHttpReceiver } from '../support/httpReceiver.ts';

const open: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const close of open.splice(0)) await close();
});

const hmac = (secret: string, t: string, raw: Buffer): Buffer =>
  createHmac('sha256', secret).update(`${t}.`).update(raw).digest();
const fits = (secret: string, t: string, raw: Buffer, hex: string): boolean => {
  const given = Buffer.from(hex, 'hex');
  const expected = hmac(secret, t, raw);
  return given.length === expected.length && timingSafeEqual(given, expected);
};
const PREVIOUS = 'x-service-signature-previous';

interface Call {
  headers: IncomingHttpHeaders;
  raw: Buffer;
}

/** A receiver that answers every call alike. */
async function receiver(status = 200) {
  const calls: Call[] = [];
  const server = await startHttpReceiver((response, raw, { headers }) => {
    calls.push({ headers, raw });
    response.writeHead(status).end();
  });
  open.push(() => server.close());
  return { url: `${server.url}/hook`, calls };
}

async function secretOf({ api }: TestAccount, url: string, rotate = false): Promise<string> {
  return (await api.put('/v1/account/webhook', { url, rotate_secret: rotate })).body.webhook_secret;
}

/** One event (message.failed), until it is in that state. */
async function tell(account: TestAccount, state = 'delivered'): Promise<void> {
  const body = await account.api.accepted({ to: '500100902', text: 'x' });
  await untilEvent(body.id, state);
}

async function untilEvent(message: string, state: string): Promise<void> {
  await eventually(
    () => database()<{ state: string }[]>`select state from webhook_events where subject_id = ${message}`,
    ([row]) => row?.state === state,
  );
}

/** With which of these secrets each header of a call was signed, by index. A header has one time and one signature. */
function signers({ headers, raw }: Call, secrets: string[]) {
  const by = (name: string): number | null => {
    if (headers[name] === undefined) return null;
    const [, t = '', v1 = ''] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers[name])) ?? [];
    return secrets.findIndex((secret) => fits(secret, t, raw, v1));
  };
  return { current: by('x-service-signature'), previous: by(PREVIOUS) };
}

// They wait for attempts that come seconds later: together they take as long as one. Accounts keep them apart.
describe.concurrent('after a change of the secret', () => {
  it('the new one signs, and the old one signs a header of its own', async () => {
    const account = await newAccount();
    const { url, calls } = await receiver();
    const secrets = [await secretOf(account, url)];
    await tell(account);
    expect(signers(calls.at(-1)!, secrets)).toEqual({ current: 0, previous: null });
    secrets.push(await secretOf(account, url, true));
    for (let event = 1; event <= 3; event += 1) {
      await tell(account);
      expect(signers(calls.at(-1)!, secrets)).toEqual({ current: 1, previous: 0 });
    }
  });

  it('all attempts are signed the same, however they are answered, and so is the next event', async () => {
    const account = await newAccount();
    const { url, calls } = await receiver(401);
    const secrets = [await secretOf(account, url), await secretOf(account, url, true)];
    for (let event = 1; event <= 2; event += 1) await tell(account, 'exhausted');
    expect(calls.map((call) => signers(call, secrets))).toEqual(
      Array.from({ length: 6 }, () => ({ current: 1, previous: 0 })),
    );
  });

  it('attempts of events that were there before are signed with the new one', async () => {
    const account = await newAccount();
    const { url, calls } = await receiver(401);
    const secrets = [await secretOf(account, url)];
    const body = await account.api.accepted({ to: '500100902', text: 'x' });
    await eventually(() => Promise.resolve(calls.length), Boolean);
    secrets.push(await secretOf(account, url, true));
    await eventually(
      () => Promise.resolve(calls.length),
      (count) => count >= 2,
    );
    expect(calls.slice(0, 2).map((call) => signers(call, secrets))).toEqual([
      { current: 0, previous: null },
      { current: 1, previous: 0 },
    ]);
    await database()`update accounts set webhook_url = null where id = ${account.id}`;
    await untilEvent(body.id, 'exhausted');
  });

  it('changed again, the last one becomes the previous one, and the one before it signs nothing', async () => {
    const account = await newAccount();
    const { url, calls } = await receiver();
    const secrets = [await secretOf(account, url)];
    for (let change = 1; change <= 2; change += 1) secrets.push(await secretOf(account, url, true));
    await tell(account);
    expect(signers(calls.at(-1)!, secrets)).toEqual({ current: 2, previous: 1 });
  });

  it('many changes at once end with the secret that signs, each answered one a different one', async () => {
    const account = await newAccount();
    const { url, calls } = await receiver();
    const first = await secretOf(account, url);
    const secrets = await Promise.all(Array.from({ length: 20 }, () => secretOf(account, url, true)));
    expect(new Set([first, ...secrets]).size).toBe(21);
    const now = await secretOf(account, url);
    await tell(account);
    const { current, previous } = signers(calls.at(-1)!, secrets);
    expect(secrets[current!]).toBe(now);
    expect(previous).toBeGreaterThanOrEqual(0);
    expect(previous).not.toBe(current);
  });

  it('another address, off and on again leave both secrets as they are', async () => {
    const account = await newAccount();
    const { url, calls } = await receiver();
    const secrets = [await secretOf(account, url), await secretOf(account, url, true)];
    expect((await account.api.put('/v1/account/webhook', { url: null })).body.webhook_secret).toBe(
      secrets[1],
    );
    expect(await secretOf(account, `${url}/other`)).toBe(secrets[1]);
    expect(await secretOf(account, url)).toBe(secrets[1]);
    await tell(account);
    expect(signers(calls.at(-1)!, secrets)).toEqual({ current: 1, previous: 0 });
  });

  it('the former one ends after a day, and is forgotten', async () => {
    const account = await newAccount();
    const { url, calls } = await receiver();
    const secrets = [await secretOf(account, url), await secretOf(account, url, true)];
    await database()`
      update accounts set webhook_secret_changed_at = now() - interval '23 hours 59 minutes' where id = ${account.id}`;
    await tell(account);
    expect(signers(calls.at(-1)!, secrets)).toEqual({ current: 1, previous: 0 });
    await database()`
      update accounts set webhook_secret_changed_at = now() - interval '24 hours' where id = ${account.id}`;
    await tell(account);
    expect(signers(calls.at(-1)!, secrets)).toEqual({ current: 1, previous: null });
    await eventually(
      async () =>
        await database()`
        select webhook_secret_before as before from accounts where id = ${account.id}`,
      ([row]) => row?.['before'] === null,
    );
  });

  it('the operator ends the former one at once', async () => {
    const account = await newAccount();
    const { url, calls } = await receiver();
    const secrets = [await secretOf(account, url), await secretOf(account, url, true)];
    const { ok, no } = commandLine(() => inject('service').databaseUrl);
    await ok('webhooks', 'end-previous-secret', '--account', account.id);
    await tell(account);
    expect(signers(calls.at(-1)!, secrets)).toEqual({ current: 1, previous: null });
    expect(await no('webhooks', 'end-previous-secret', '--account', account.id)).toMatchObject({
      code: 'refused',
    });
    // The operator sees what the account did and what they did themselves.
    expect(listIn(await ok('audit', '--account', account.id))).toMatchObject([
      { action: 'webhooks end-previous-secret', actor: ACTOR, request_id: null, address: null },
      { action: 'webhook', actor: account.keyId, address: '127.0.0.1', details: { secret: { to: 'new' } } },
      { action: 'webhook', actor: account.keyId, address: '127.0.0.1', details: { url: { from: null } } },
    ]);
  });
});
