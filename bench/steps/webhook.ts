import { createHmac } from 'node:crypto';
import { Agent, request } from 'undici';
import { type MessageRow } from './database.ts';
import { setting } from './settings.ts';

const TIMEOUT_MS = 10_000;
const SECRET = 'whsec_bench';

/** Posts signed events to the receiver, over connections that are kept. */
export function createWebhook(): { post(message: MessageRow, type: string): Promise<void> } {
  const agent = new Agent({ connections: 100 });
  const url = setting('WEBHOOK_URL');
  return {
    async post(message, type) {
      const now = new Date();
      const body = JSON.stringify({
        id: `evt_${message.id}_${type}`,
        type,
        created_at: now.toISOString(),
        data: { message },
      });
      const t = Math.floor(now.getTime() / 1000);
      const signature = createHmac('sha256', SECRET).update(`${t}.${body}`).digest('hex');
      const response = await request(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-service-signature': `t=${t},v1=${signature}` },
        body,
        dispatcher: agent,
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      await response.body.dump();
      if (response.statusCode !== 200) throw new Error(`the receiver answered ${response.statusCode}`);
    },
  };
}
