import {
  allHandlersFinished,
  CancellationScope,
  condition,
  continueAsNew,
  log,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { billingActivities } from '../activities/messages.ts';
import type { emailActivities, emailClosingActivities } from '../activities/email.ts';
import {
  type EmailInput,
  emailEventsSignal,
  LOCAL_ACTIVITY,
  routeQueue,
  SEARCH_ATTRIBUTES,
} from './contracts.ts';
import { deliverEvents } from './webhooks.ts';

const local = proxyLocalActivities<
  ReturnType<typeof billingActivities> & ReturnType<typeof emailClosingActivities>
>(LOCAL_ACTIVITY);

// Opens and clicks are unlimited.
const EVENTS_OF_HISTORY = 4_000;
// Late events come in twos and threes.
const LATE_EVENTS_WAIT_MS = 1_000;

interface State {
  id: string;
  input: EmailInput;
  route: string;
  events: string[];
}

/**
 * One e-mail, its id the workflow id: charge, hand-over, webhook calls for the provider's events for three days. A cancel has no effect.
 */
export async function email(input: EmailInput): Promise<{ status: string }> {
  const state: State = { id: workflowInfo().workflowId, input, route: input.route, events: [] };
  setHandler(emailEventsSignal, (events) => void state.events.push(...events), {
    description: 'Webhook events to be delivered, of what the provider reported.',
  });
  return await CancellationScope.nonCancellable(async () => {
    const status = await fromChargeToEnd(state);
    await condition(allHandlersFinished);
    setCurrentDetails(`Ended: ${status}.`);
    return { status };
  });
}

async function fromChargeToEnd(state: State): Promise<string> {
  if (state.input.stage === 'late') return await deliverLate(state);
  if (state.input.stage === undefined) await local.charge(state.id);
  if (state.input.stage === undefined && !(await handedOverWithEvents(state))) return await end(state);
  await follow(state);
  return await end(state);
}

/** Delivers events meanwhile: a provider whose answer was lost is retried for hours. @returns whether the provider may have the e-mail */
async function handedOverWithEvents(state: State): Promise<boolean> {
  let over = false;
  const delivering = deliverUntil(state, () => over);
  const handed = await handedOver(state);
  over = true;
  await delivering;
  return handed;
}

async function deliverUntil({ events }: State, over: () => boolean): Promise<void> {
  for (;;) {
    await condition(() => over() || events.length > 0);
    if (over()) return;
    await deliverEvents(events.splice(0));
  }
}

async function handedOver(state: State): Promise<boolean> {
  for (let moves = 0; ; moves += 1) {
    if (Date.now() >= state.input.giveUpAt) return false;
    setCurrentDetails(`Queued: waits for the route ${state.route} to take it.`);
    try {
      const outcome = await handOver(state)(state.id, moves);
      if (outcome.status !== 'moved') return outcome.status !== 'failed';
      state.route = outcome.route;
      upsertSearchAttributes([{ key: SEARCH_ATTRIBUTES.route, value: outcome.route }]);
    } catch (error) {
      const { accountId, requestId } = state.input;
      log.warn('the hand-over of an e-mail ended without a result', { error, accountId, requestId });
      return false;
    }
  }
}

// Only a provider's idempotency key lets an unanswered attempt be repeated. The heartbeat detects a lost worker before the time-out.
function handOver({ input, route }: State) {
  return proxyActivities<ReturnType<typeof emailActivities>>({
    taskQueue: routeQueue(route),
    startToCloseTimeout: '10m',
    heartbeatTimeout: '15s',
    scheduleToCloseTimeout: Math.max(input.giveUpAt - Date.now(), 1),
    retry: { initialInterval: '1s', maximumInterval: '60s' },
    summary: `hands over to ${route}`,
  }).handOver;
}

async function follow(state: State): Promise<void> {
  const { input, events } = state;
  upsertSearchAttributes([{ key: SEARCH_ATTRIBUTES.status, value: 'sent' }]);
  for (;;) {
    setCurrentDetails(`Handed over: takes events until ${new Date(input.giveUpAt).toISOString()}.`);
    await deliverEvents(events.splice(0));
    if (events.length > 0) continue;
    if (workflowInfo().historyLength > EVENTS_OF_HISTORY) {
      await condition(allHandlersFinished);
      await continueAsNew<typeof email>({ ...input, route: state.route, stage: 'following' });
    }
    const left = input.giveUpAt - Date.now();
    if (left <= 0) return;
    await condition(() => events.length > 0, left, { summary: 'waits for events' });
  }
}

async function end(state: State): Promise<string> {
  const status = await local.endEmail(state.id);
  upsertSearchAttributes([{ key: SEARCH_ATTRIBUTES.status, value: status }]);
  // Events that arrived while that was stored.
  while (state.events.length > 0) await deliverEvents(state.events.splice(0));
  return status;
}

/** The e-mail's workflow has ended before: only delivers the events. */
async function deliverLate({ events }: State): Promise<string> {
  setCurrentDetails('Delivers events that came late.');
  do await deliverEvents(events.splice(0));
  while (await condition(() => events.length > 0, LATE_EVENTS_WAIT_MS));
  return 'delivered late events';
}
