import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import type { RunningApi } from '../../../api/server.ts';
import { addRoute, removeRoute, sealCredentials } from '../../../db/routes/routes.ts';
import { signCall } from '../../providers/resendServer.ts';
import { eventually } from '../../support/eventually.ts';
import { database } from '../../support/factories.ts';
import { startOwnApi } from '../../support/ownApi.ts';
import { dribbling } from './dribbling.ts';

const route = `resend-${randomBytes(4).toString('hex')}`;
const webhookSecret = `whsec_${randomBytes(24).toString('base64')}`;

let api: RunningApi;
beforeAll(async () => {
  const secretsKey = Buffer.from(inject('service').secretsKey, 'base64');
  await addRoute(database(), {
    ...{
      name: route,
      kind: 'resend',
      state: 'disabled',
      settings: {},
      ratePerSecond: null,
      brokenAfterS: 10,
    },
    credentials: sealCredentials(secretsKey, route, { apiKey: 're_nobody', webhookSecret }),
  });
  api = await startOwnApi({ config: { TRUST_PROXY: true } });
});
afterAll(async () => {
  await api.stop();
  await database()`delete from provider_email_events where route = ${route}`;
  await removeRoute(database(), route);
});

async function call(from: string) {
  const data = { email_id: 'nobody', to: [], created_at: new Date().toISOString() };
  const signed = signCall(webhookSecret, JSON.stringify({ type: 'email.delivered', ...data, data }));
  const response = await fetch(`${api.url}/v1/email/callback`, {
    ...{ method: 'POST', body: signed.body },
    headers: { ...signed.headers, 'x-forwarded-for': from },
  });
  return { status: response.status, text: await response.text() };
}

it('a call waits for its body’s place among those of its network that nobody has signed yet, not behind another’s', async () => {
  // Without any signature nobody would read a body.
  const forged = signCall(`whsec_${randomBytes(24).toString('base64')}`, '{}').headers;
  const sockets = await dribbling(api, 16, forged);
  try {
    // These get the places when the first ones have had them for five seconds.
    await delay(2_500);
    sockets.push(...(await dribbling(api, 16, forged)));
    await delay(500);
    expect(await call('192.0.2.200')).toEqual({ status: 503, text: 'unavailable' });
    expect(await call('198.51.100.1')).toEqual({ status: 200, text: 'OK' });
    await eventually(
      () => call('192.0.2.200'),
      ({ status }) => status === 200,
    );
  } finally {
    for (const socket of sockets) socket.destroy();
  }
});
