import {
  CancellationScope,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  workflowInfo,
} from '@temporalio/workflow';
import type { senderDomainActivities } from '../activities/senderDomains.ts';
import type { DomainResult, DomainsLookedAt } from './contracts.ts';
import { deliverEvents } from './webhooks.ts';

type Activities = ReturnType<typeof senderDomainActivities>;

// It may be repeated from its beginning, and goes on with those that were not looked at. What is not done the next run does. Some looks at a
// time take their ten seconds each where DNS does not answer.
const { checkSenderDomains } = proxyActivities<Activities>({
  startToCloseTimeout: '50m',
  heartbeatTimeout: '2m',
  retry: { initialInterval: '1s', maximumInterval: '30s', maximumAttempts: 5 },
});

// One database statement, repeated until the database answers.
const { pendingDomainEvents } = proxyLocalActivities<Activities>({
  startToCloseTimeout: '10s',
  retry: { initialInterval: '100ms', maximumInterval: '5s' },
});

/** Looks whether the DNS records of sender domains are there. Started by the schedule `sender-domains`. */
export async function senderDomains(): Promise<DomainsLookedAt> {
  const found = await checkSenderDomains();
  setCurrentDetails(`Looked at ${found.looked}: ${found.verified} verified anew, ${found.lost} lost.`);
  return found;
}

/**
 * A sender domain that was verified or lost: notifies its account's webhook. Its id is the domain's, which may be gone meanwhile. A
 * cancel changes nothing: what has happened is delivered.
 */
export async function domain(): Promise<DomainResult> {
  return await CancellationScope.nonCancellable(async () => {
    let delivered = 0;
    for (;;) {
      const events = await pendingDomainEvents(workflowInfo().workflowId);
      if (events.length === 0) return { events: delivered };
      await deliverEvents(events);
      delivered += events.length;
    }
  });
}
