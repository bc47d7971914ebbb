import { setTimeout as delay } from 'node:timers/promises';
import type { Database, Sql } from '../../../db/connection.ts';
import { requestResend, type ResendRefusal } from '../../../db/webhooks/webhookResends.ts';
import type { Tools } from '../tools.ts';

// One account's events are delivered again some at a time: the next ones wait for those before them.
const PLACE_WITHIN_MS = 60_000;
const LOOK_MS = 500;

const WORDS: Readonly<Record<ResendRefusal, string>> = {
  unknown: 'there is no such event',
  no_webhook: 'its account has no webhook',
  pending: 'it is still being delivered',
  under_way: 'it is being delivered again already',
  too_often: 'it was delivered again ten times already',
  too_many: 'too many of its account are being delivered again',
};

/** Has events delivered again, one after the other; what could not be is told with its reason. */
export async function resendAll(
  sql: Sql,
  ids: readonly string[],
  tools: Tools,
): Promise<{ resent: string[]; left: { id: string; reason: string }[] }> {
  const { startResend } = await import('../../../activities/resends.ts');
  const resent: string[] = [];
  const left: { id: string; reason: string }[] = [];
  // Asked for first: what is written down now is begun by a worker even if this process ends.
  const client = await tools.temporal();
  for (const id of ids) {
    const resend = await place(sql as Database, id);
    if (typeof resend === 'string') left.push({ id, reason: WORDS[resend] });
    else {
      resent.push(id);
      await startResend(client, resend).catch(() => undefined);
    }
  }
  return { resent, left };
}

async function place(sql: Database, id: string): ReturnType<typeof requestResend> {
  const deadline = Date.now() + PLACE_WITHIN_MS;
  for (;;) {
    const answer = await requestResend(sql, id, null, 'staff');
    if (answer !== 'too_many' || Date.now() > deadline) return answer;
    await delay(LOOK_MS);
  }
}
