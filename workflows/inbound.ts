import {
  CancellationScope,
  proxyLocalActivities,
  setCurrentDetails,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { inboundActivities } from '../activities/inbound.ts';
import { type InboundResult, SEARCH_ATTRIBUTES } from './contracts.ts';
import { deliverEvents } from './webhooks.ts';

// One database transaction, keyed by the reply: repeated until the database answers.
const { settleReply } = proxyLocalActivities<ReturnType<typeof inboundActivities>>({
  startToCloseTimeout: '10s',
  retry: { initialInterval: '100ms', maximumInterval: '5s' },
});

/**
 * One reply from a phone: finds the account it is for, opts the sender out where it says so, notifies the customer's
 * webhook. Its id is the reply's. A cancel changes nothing: a reply that has come cannot be called back.
 */
export async function inbound(): Promise<InboundResult> {
  return await CancellationScope.nonCancellable(async () => {
    const { accountId, events } = await settleReply(workflowInfo().workflowId);
    if (accountId === null) {
      setCurrentDetails('Unmatched: it answers no account, and is kept for staff.');
      return { matched: false };
    }
    setCurrentDetails(`Matched to ${accountId}${events.length > 0 ? '; notifies its webhook' : ''}.`);
    upsertSearchAttributes([{ key: SEARCH_ATTRIBUTES.account, value: accountId }]);
    // One of each interface: neither address waits for the other.
    await Promise.all(events.map((event) => deliverEvents([event], accountId)));
    return { matched: true };
  });
}
