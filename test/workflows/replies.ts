import { storeReplies } from '../../db/incoming/inbound.ts';
import { newId } from '../../db/ids.ts';
import { inboundStart } from '../../workflows/startOptions.ts';
import type { Pipeline } from './pipeline.ts';

/**
 * Stores a reply of a phone, and starts its workflow; returns its id.
 * @param to the number it came to; null: the provider does not tell
 */
export async function startReply(
  pipeline: Pipeline,
  from: string,
  text: string,
  to: string | null = null,
): Promise<string> {
  const reply = { providerReference: newId('req'), from, to, text };
  const [id] = await storeReplies(pipeline.sql, 'test', [reply]);
  await pipeline.client.workflow.start('inbound', inboundStart(id!));
  return id!;
}

/** Lets an account receive replies that begin with its keyword. */
export async function receiveReplies(pipeline: Pipeline, account: string, keyword: string): Promise<void> {
  await pipeline.sql`
    update accounts set inbound_number = '+48500600700', inbound_prefix = ${keyword} where id = ${account}`;
}
