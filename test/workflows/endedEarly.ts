import type { Database } from '../../db/connection.ts';
import { reportFinding } from '../../db/maintenance/findings.ts';
import type { StartableMessage } from '../../domain/statuses.ts';
import { messageRestart } from '../../workflows/startOptions.ts';
import type { MessageOptions, Pipeline } from './pipeline.ts';

type Open = 'scheduled' | 'queued' | 'sent';
type Options = MessageOptions & { webhookUrl?: string };

/**
 * An accepted message that the database has as open while its workflow has completed, as where PostgreSQL alone was restored. What
 * became of it since the backup, the database does not know.
 */
export async function endedBefore(
  pipeline: Pipeline,
  status: Open,
  options: Options = {},
): Promise<{ id: string; account: string }> {
  const { sql, client } = pipeline;
  const message = await accepted(pipeline, options);
  const { id, accountId: account } = message;
  await forceStatus(sql, id, 'delivered');
  // It finds the message at its end, and ends.
  const handle = await client.workflow.start('message', messageRestart({ ...message, sendAt: null }));
  await handle.result();
  await forceStatus(sql, id, status);
  return { id, account };
}

/** As {@link endedBefore}, found by a run before, and forgotten by Temporal since. */
export async function endedAndForgotten(
  pipeline: Pipeline,
  status: Open,
  options: Options = {},
): Promise<{ id: string; account: string }> {
  const { id, accountId } = await accepted(pipeline, options);
  await forceStatus(pipeline.sql, id, status);
  await reportFinding(pipeline.sql, { kind: 'workflow_ended', subject: id, accountId, details: {} });
  return { id, account: accountId };
}

async function accepted(pipeline: Pipeline, { webhookUrl, ...options }: Options): Promise<StartableMessage> {
  const account = await pipeline.account(webhookUrl === undefined ? {} : { webhookUrl });
  return await pipeline.message(account, options);
}

async function forceStatus(sql: Database, id: string, status: string): Promise<void> {
  await sql`alter table messages disable trigger messages_transition`;
  await sql`update messages set status = ${status}, updated_at = now() - interval '6 minutes' where id = ${id}`;
  await sql`alter table messages enable trigger messages_transition`;
}
