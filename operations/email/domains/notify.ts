import type { Client } from '@temporalio/client';
import { domainStart } from '../../../workflows/startOptions.ts';

const START_MS = 5_000;

/** Starts the workflow that delivers the events of a domain; one that runs delivers them along. */
async function startDomain(client: Client, domain: { id: string; accountId: string }): Promise<void> {
  await client.connection.withDeadline(Date.now() + START_MS, () =>
    client.workflow.start('domain', domainStart(domain)),
  );
}

/** The same for a change that stands, wherever Temporal is: what was not started now the reconciliation starts. */
export async function tryToNotify(
  temporal: () => Promise<Client>,
  domain: { id: string; accountId: string },
): Promise<void> {
  try {
    await startDomain(await temporal(), domain);
  } catch {
    // The event is stored, and is late in ten minutes.
  }
}
