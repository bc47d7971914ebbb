import { Client, Connection } from '@temporalio/client';
import { inject } from 'vitest';
import { database } from './factories.ts';

/** Ends what an account's scheduled bulk has begun, so that the tests after it need not wait while thousands of workflows start. */
export async function endBulk(accountId: string): Promise<void> {
  const requests = await database()<{ requestId: string }[]>`
    select distinct request_id from messages where account_id = ${accountId} and batched and status = 'scheduled'`;
  const connection = await Connection.connect({ address: inject('service').temporalAddress });
  const { workflow } = new Client({ connection });
  for (const { requestId } of requests) {
    await workflow
      .getHandle(requestId)
      .terminate('the test is over')
      .catch(() => undefined);
  }
  const begun = workflow.list({ query: `Account = '${accountId}' and ExecutionStatus = 'Running'` });
  for await (const { workflowId } of begun)
    await workflow
      .getHandle(workflowId)
      .terminate()
      .catch(() => undefined);
  await connection.close();
  await database()`update messages set status = 'cancelled' where account_id = ${accountId} and status = 'scheduled'`;
}
