import { createOutcomeDispatcher } from '../../pipeline/outcomes.ts';
import { createDeliveryReports, type DeliveryReports } from '../../pipeline/deliveryReports.ts';
import type { Database } from '../../db/connection.ts';
import { storeReports } from '../../db/incoming/deliveryReports.ts';
import type { Pipeline } from './pipeline.ts';

/** The SMSC's id of a message's first part. */
export async function providerId(sql: Database, messageId: string): Promise<string> {
  const [part] = await sql<{ id: string }[]>`
    select provider_message_id as id from message_parts where message_id = ${messageId} and part = 1`;
  return part!.id;
}

/** The simulated network reports a message of one part as delivered. */
export async function reportDelivered(sql: Database, messageId: string): Promise<void> {
  const providerMessageId = await providerId(sql, messageId);
  await storeReports(sql, 'simulator', [
    { providerMessageId, reference: null, state: 'delivered', errorCode: null },
  ]);
}

/** What a worker does about reports, by hand, beside the worker. */
export function deliveryReportsOf({ sql, client }: Pick<Pipeline, 'sql' | 'client'>): DeliveryReports {
  const onError = console.error;
  return createDeliveryReports(
    sql,
    createOutcomeDispatcher(sql, client, (events) => Promise.resolve([...events]), onError),
    onError,
  );
}
