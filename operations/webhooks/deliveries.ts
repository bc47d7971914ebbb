import {
  countTestEvents,
  type DeliveryRow,
  type Exchange,
  readDelivery,
  readExchanges,
} from '../../db/webhooks/webhookDeliveries.ts';
import { type Sql, withNamedLock } from '../../db/connection.ts';
import { eventBody } from '../../db/webhooks/eventBody.ts';
import { insertAccountEvent, loadEvent } from '../../db/webhooks/webhooks.ts';
import { isId } from '../../domain/ids.ts';
import { Refused } from '../../domain/refusals.ts';
import { TEST_EVENT_TYPE, withoutPath } from '../../domain/webhooks.ts';
import type { OperationContext } from '../context.ts';

type Context<Input> = Pick<OperationContext<Input>, 'services' | 'caller' | 'input'>;

export interface DeliveryDetails extends Omit<DeliveryRow, 'attempts'> {
  /** As it was posted; after an erasure, as it would be now. */
  body: string;
  attempts: Exchange[];
}

/** A webhook event with what was sent and what was answered. @throws Refused event_unknown */
export async function showDelivery({
  services: { sql, shortUrl },
  caller: { accountId, readOnly },
  input: { id },
}: Context<{ id: string }>): Promise<DeliveryDetails> {
  const delivery = isId('evt', id) ? await readDelivery(sql, accountId, id) : null;
  const whole = delivery === null ? null : await withBodies(sql, delivery, shortUrl);
  if (whole === null) throw new Refused({ reason: 'event_unknown' });
  const shown = (url: string) => (readOnly ? withoutPath(url)! : url);
  return { ...whole, attempts: whole.attempts.map((one) => ({ ...one, url: shown(one.url) })) };
}

/** A webhook event with what was sent and what was answered; null: it is no more. @param shortUrl where links of clicks are opened */
export async function withBodies(
  sql: Sql,
  delivery: DeliveryRow,
  shortUrl: string,
): Promise<DeliveryDetails | null> {
  const event = await loadEvent(sql, delivery.id);
  if (event === null) return null;
  const [body, attempts] = await Promise.all([
    eventBody(sql, event, shortUrl),
    readExchanges(sql, delivery.id),
  ]);
  return { ...delivery, body, attempts };
}

const MINUTE_S = 60;
const TESTS_A_MINUTE = 5;

/** Sends a test event to the account's webhook. @returns its id @throws Refused without a webhook, and beyond five a minute */
export async function testWebhook({
  services: { sql },
  caller: { accountId },
}: Context<unknown>): Promise<{ id: string }> {
  const id = await withNamedLock(sql, `test events of ${accountId}`, async (tx) => {
    if ((await countTestEvents(tx, accountId, Date.now() - MINUTE_S * 1_000)) >= TESTS_A_MINUTE)
      throw new Refused({ reason: 'rate_limited', seconds: MINUTE_S });
    return await insertAccountEvent(tx, accountId, 'test', { type: TEST_EVENT_TYPE, snapshot: {} });
  });
  if (id === null) throw new Refused({ reason: 'webhook_missing' });
  return { id };
}
