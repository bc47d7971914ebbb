import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { errorText } from '../../domain/errors.ts';
import { StartProblem } from '../../bin/problem.ts';
import { addSearchAttributes, searchAttributes } from '../../bin/searchAttributes.ts';

// How long closed workflows can be looked at; as in docker-compose.yml.
const RETENTION = '72h';
const PATIENCE_MS = 90_000;
const CALL_MS = 5_000;
const LOOK_AGAIN_MS = 250;

/**
 * Creates the namespace with its search attributes where they are missing, and waits until every server knows both:
 * each keeps what it has read for some seconds.
 * @param addresses host:port of each server
 * @throws StartProblem when they do not get there
 */
export async function prepareNamespace(addresses: string[], namespace: string): Promise<void> {
  const [first = ''] = addresses;
  await patiently(first, async (connection) => {
    await register(connection, namespace);
    await addSearchAttributes(connection, namespace);
  });
  await Promise.all(
    addresses.map((address) => patiently(address, (connection) => search(connection, namespace))),
  );
}

async function register({ workflowService }: Connection, namespace: string): Promise<void> {
  const known = await workflowService.describeNamespace({ namespace }).then(
    () => true,
    () => false,
  );
  if (known) return;
  await workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod: msToTs(RETENTION) });
}

async function search({ workflowService }: Connection, namespace: string): Promise<void> {
  const query = searchAttributes.map(({ name }) => `${name} is null`).join(' and ');
  await workflowService.countWorkflowExecutions({ namespace, query });
}

async function patiently(address: string, work: (connection: Connection) => Promise<void>): Promise<void> {
  const connection = Connection.lazy({ address, interceptors: [] });
  const deadline = Date.now() + PATIENCE_MS;
  try {
    for (;;) {
      try {
        await connection.withDeadline(Date.now() + CALL_MS, () => work(connection));
        return;
      } catch (error) {
        if (Date.now() > deadline)
          throw new StartProblem(`Temporal at ${address} does not get ready: ${errorText(error)}`);
        await sleep(LOOK_AGAIN_MS);
      }
    }
  } finally {
    await connection.close();
  }
}
