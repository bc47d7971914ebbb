import { createHmac } from 'node:crypto';
import { Agent, request } from 'undici';
import { type Database, transaction } from '../../db/connection.ts';
import { setting } from '../child.ts';
import * as database from './database.ts';
import type { OpenProvider } from './provider.ts';

const WEBHOOK_TIMEOUT_MS = 10_000;
const WEBHOOK_SECRET = 'whsec_bench';

/** The steps of the plain pipeline. */
export function activities(sql: Database, provider: OpenProvider) {
  const dispatcher = new Agent({ connections: 100 });
  return {
    charge: (message: database.NewMessage): Promise<void> =>
      transaction(sql, (tx) => database.charge(tx, message)),

    submit: (message: database.NewMessage): Promise<string> => provider.submit(message),

    /** Returns whether the delivery report was there before the answer. */
    async storeAnswer(id: string, providerId: string): Promise<boolean> {
      await database.storeAnswer(sql, id, providerId);
      return (await database.conclude(sql, providerId)) !== null;
    },

    /** Posts a signed event, over connections that are kept. */
    async sendWebhook(id: string, type: string): Promise<void> {
      const message = await database.readMessage(sql, id);
      const now = new Date();
      const event = { id: `evt_${id}_${type}`, type, created_at: now.toISOString(), data: { message } };
      const body = JSON.stringify(event);
      const t = Math.floor(now.getTime() / 1000);
      const signature = createHmac('sha256', WEBHOOK_SECRET).update(`${t}.${body}`).digest('hex');
      const response = await request(setting('WEBHOOK_URL'), {
        ...{ method: 'POST', body, dispatcher, signal: AbortSignal.timeout(WEBHOOK_TIMEOUT_MS) },
        headers: { 'content-type': 'application/json', 'x-service-signature': `t=${t},v1=${signature}` },
      });
      await response.body.dump();
      if (response.statusCode !== 200) throw new Error(`the receiver answered ${response.statusCode}`);
    },
  };
}
