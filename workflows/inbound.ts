import {
  CancellationScope,
  proxyLocalActivities,
  setCurrentDetails,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { inboundActivities } from '../activities/inbound.ts';
import { type InboundResult, LOCAL_ACTIVITY, SEARCH_ATTRIBUTES } from './contracts.ts';
import { deliverEvents } from './webhooks.ts';

const { settleReply } = proxyLocalActivities<ReturnType<typeof inboundActivities>>(LOCAL_ACTIVITY);

/** One reply, with its id as workflow id: matches the account, opts the sender out, notifies the webhook. A cancel has no effect. */
export async function inbound(): Promise<InboundResult> {
  return await CancellationScope.nonCancellable(async () => {
    const { accountId, events } = await settleReply(workflowInfo().workflowId);
    if (accountId === null) {
      setCurrentDetails('Unmatched: it answers no account, and is kept for staff.');
      return { matched: false };
    }
    setCurrentDetails(`Matched to ${accountId}${events.length > 0 ? '; notifies its webhook' : ''}.`);
    upsertSearchAttributes([{ key: SEARCH_ATTRIBUTES.account, value: accountId }]);
    // One event per interface version: neither URL waits for the other.
    await Promise.all(events.map((event) => deliverEvents([event], accountId)));
    return { matched: true };
  });
}
