import {
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  condition,
  isCancellation,
  log,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  sleep,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { billingActivities } from '../activities/billing.ts';
import type { messageActivities } from '../activities/messages.ts';
import type { quickSubmissionActivities, submissionActivities } from '../activities/submission.ts';
import type { Acceptance } from '../domain/acceptance.ts';
import { CANCEL_LEAD_MS, type FinalStatus } from '../domain/statuses.ts';
import {
  acceptUpdate,
  cancelSignal,
  cancelUpdate,
  routeQueue,
  FAILURE,
  giveUpUpdate,
  type MessageInput,
  type MessageResult,
  type MovedOn,
  type MessageOutcome,
  outcomeSignal,
  outcomeUpdate,
  type PausedSubmission,
  resumeSignal,
  resubmitUpdate,
  SEARCH_ATTRIBUTES,
  type SubmissionOutcome,
} from './contracts.ts';
import { deliverEvents } from './webhooks.ts';

// One database transaction each, keyed by the message: repeated until the database answers.
const local = proxyLocalActivities<
  ReturnType<typeof billingActivities> & ReturnType<typeof messageActivities>
>({
  startToCloseTimeout: '10s',
  retry: { initialInterval: '100ms', maximumInterval: '5s' },
});

// Made once: what it leaves open goes the ordinary way. No shorter than that way's time-out, since a submit that is left
// to itself would look like one that nobody answered.
const { submitInTask } = proxyLocalActivities<ReturnType<typeof quickSubmissionActivities>>({
  startToCloseTimeout: '10m',
  retry: { maximumAttempts: 1 },
});

// Most reports come sooner: the search attribute tells of those that wait for theirs.
const SHOW_SENT_AFTER_MS = 60_000;

const SIGNAL_PATIENCE_MS = 60_000;

// An SMSC that says late, again and again, that it has not taken a message gets it less and less often.
const HELD_REST_MS = 1_000;
const HELD_REST_MAX_MS = 600_000;

type Final = FinalStatus | 'refused';

/**
 * One message from its charge to its end: charge, wait for the send time, submit, wait for the delivery report, tell
 * the customer's webhook. Its id is the message's id. What is true now stands in the database; what happens next, here.
 */
export async function message(input: MessageInput): Promise<MessageResult> {
  const id = workflowInfo().workflowId;
  let acceptance: Acceptance | undefined = input.accepted ? { accepted: true } : undefined;
  let charging: Promise<Acceptance> | undefined;
  let submitting = false;
  let cancelRequested = false;
  let cancelStatus: string | undefined;
  let route = input.route;
  let moves = 0;
  let unanswered = false;
  let submission: CancellationScope | undefined;
  let heldLate = 0;
  // Raised by whatever a paused message may go on for.
  let wakes = 0;
  let shown = input.sendAt === null ? 'queued' : 'scheduled';
  const outcomes: MessageOutcome[] = [];
  const ids = { accountId: input.accountId, requestId: input.requestId };

  setHandler(acceptUpdate, async () => acceptance ?? (await charge()), {
    description: 'Charges the request; answered to its caller.',
  });
  setHandler(
    cancelUpdate,
    async () => {
      cancelRequested = true;
      await condition(() => cancelStatus !== undefined);
      if (cancelStatus !== 'cancelled') throw notCancellable();
    },
    {
      description: 'Cancels and refunds the message; refused later than 30 s before its send time.',
      validator: () => {
        const scheduled = acceptance?.accepted !== false && !submitting && input.sendAt !== null;
        if (!scheduled || input.sendAt! - Date.now() < CANCEL_LEAD_MS) throw notCancellable();
      },
    },
  );
  const requestCancel = (): void => {
    cancelRequested = true;
    wakes += 1;
  };
  setHandler(cancelSignal, requestCancel, {
    description: 'Cancels and refunds the message as long as it is scheduled.',
  });
  setHandler(resumeSignal, () => void (wakes += 1), {
    description: 'The account is active again: a paused message goes on.',
  });
  const hear = (outcome: MessageOutcome): void => {
    outcomes.push(outcome);
    wakes += 1;
  };
  setHandler(outcomeUpdate, hear, { description: 'What the delivery reports of all parts come to.' });
  setHandler(outcomeSignal, hear, { description: 'The same, where the update comes to no answer.' });

  setHandler(
    resubmitUpdate,
    async () => {
      if (!(await CancellationScope.nonCancellable(() => local.reopen(id)))) throw notUnanswered();
      heldLate = 0;
      outcomes.push({ status: 'held', events: [] });
    },
    {
      description: 'Submits an unanswered message again, although the SMSC may have it.',
      validator: refuseUnlessUnanswered,
    },
  );
  setHandler(
    giveUpUpdate,
    async () => {
      const { status, events } = await CancellationScope.nonCancellable(() => local.giveUp(id));
      if (status !== 'failed') throw notUnanswered();
      outcomes.push({ status, events });
      // Some of it may wait for its route meanwhile, for as long as the message may be delivered.
      submission?.cancel();
    },
    {
      description: 'Gives an unanswered message up: failed and refunded.',
      validator: refuseUnlessUnanswered,
    },
  );

  // Temporal's own cancel means the same as the signal; nothing that moves money or a message is ever interrupted.
  const root = CancellationScope.current();
  root.cancelRequested.catch(requestCancel);

  const status = await CancellationScope.nonCancellable(async () => {
    setCurrentDetails('Waits for its charge.');
    // The update may have been lost with the server that took it: then nobody asks, and nobody would end this.
    if (!acceptance && !charging) await charge();
    await condition(() => acceptance !== undefined);
    const final = acceptance?.accepted ? await send() : 'refused';
    // A cancel that came too late to be looked at is refused.
    cancelStatus ??= final;
    await condition(allHandlersFinished);
    return final;
  });
  if (root.consideredCancelled && status === 'cancelled')
    throw new CancelledFailure('cancelled and refunded');
  return { status };

  // While parts are under way, others may be unanswered: the database knows.
  function refuseUnlessUnanswered(): void {
    if ((!unanswered && submission === undefined) || outcomes.length > 0) throw notUnanswered();
  }

  function charge(): Promise<Acceptance> {
    charging ??= CancellationScope.nonCancellable(async () => {
      acceptance = await local.charge(input.requestId);
      return acceptance;
    });
    return charging;
  }

  async function send(): Promise<Final> {
    if (input.sendAt !== null) {
      setCurrentDetails(`Scheduled: waits for its send time, ${new Date(input.sendAt).toISOString()}.`);
      await condition(() => cancelRequested, Math.max(input.sendAt - Date.now(), 1), {
        summary: 'waits for the send time',
      });
    }
    if (cancelRequested && input.sendAt !== null) {
      cancelStatus = await local.cancelMessage(id);
      if (cancelStatus === 'cancelled') return finish('cancelled', 'Cancelled and refunded.');
    }
    submitting = true;
    const over = input.sendAt === null ? null : await release();
    return await followUp(over ?? (await submit()));
  }

  /** Its send time has come. Not null: it has ended without a submit. */
  async function release(): Promise<SubmissionOutcome | null> {
    for (;;) {
      const seen = wakes;
      const released = await local.release(id);
      if (released.cancelled) return { status: 'cancelled', events: [] };
      if (!released.paused) {
        takeRoute(released.route ?? route);
        return null;
      }
      const over = await pause(seen);
      if (over !== null) return over;
    }
  }

  async function submit(): Promise<SubmissionOutcome> {
    for (;;) {
      const seen = wakes;
      const outcome = await submitOnRoute();
      if (outcome.status === 'paused') {
        const over = await pause(seen);
        if (over !== null) return over;
      } else if (outcome.status === 'moved') {
        moves += 1;
        takeRoute(outcome.route);
      } else return outcome;
    }
  }

  /**
   * Waits for the account, which is suspended, unless something came since `seen`. Null: the database is to be asked again;
   * else how the message has ended meanwhile.
   */
  async function pause(seen: number): Promise<SubmissionOutcome | null> {
    const until = new Date(input.giveUpAt).toISOString();
    setCurrentDetails(`Paused: its account is suspended. It goes when that is active again, until ${until}.`);
    show('paused');
    const wait = Math.max(input.giveUpAt - Date.now(), 1);
    const woken = await condition(() => wakes > seen, wait, { summary: 'waits for its account' });
    if (!woken) return await local.expire(id);
    if (!cancelRequested) return null;
    const status = await local.cancelMessage(id);
    return status === 'cancelled' ? { status, events: [] } : null;
  }

  async function submitOnRoute(): Promise<SubmissionOutcome | MovedOn | PausedSubmission> {
    if (Date.now() >= input.giveUpAt) return await local.expire(id);
    setCurrentDetails(`Queued: waits for the route ${route} to take it.`);
    // Retried for as long as the message may be delivered: a repeated attempt submits only what certainly was not
    // taken. The heartbeat finds a lost worker sooner than the time-out would.
    const { submit: submitTo } = proxyActivities<ReturnType<typeof submissionActivities>>({
      taskQueue: routeQueue(route),
      startToCloseTimeout: '10m',
      heartbeatTimeout: '15s',
      scheduleToCloseTimeout: input.giveUpAt - Date.now(),
      retry: { initialInterval: '1s', maximumInterval: '60s' },
      summary: `submits to ${route}`,
    });
    try {
      return await CancellationScope.cancellable(async () => {
        submission = CancellationScope.current();
        const done = await submitHere();
        if (done !== null) return done;
        show('queued');
        return await submitTo(id, { moves });
      });
    } catch (error) {
      if (isCancellation(error)) return await local.expire(id);
      log.warn('submission ended without a result', { error, ...ids });
      return await local.expire(id);
    } finally {
      submission = undefined;
    }
  }

  /** Within the workflow task, where no caller waits for that to end. Null: it is to go through the route's queue. */
  async function submitHere(): Promise<SubmissionOutcome | MovedOn | PausedSubmission | null> {
    const awaited = !input.accepted && input.callerNotified !== true && input.sendAt === null;
    if (awaited || moves > 0) return null;
    try {
      return await submitInTask(id, route);
    } catch (error) {
      // Broken off for another reason, the end of its worker say, it is not given up.
      if (CancellationScope.current().consideredCancelled) throw error;
      return null;
    }
  }

  function takeRoute(next: string): void {
    if (next === route) return;
    route = next;
    upsertSearchAttributes([{ key: SEARCH_ATTRIBUTES.route, value: route }]);
  }

  async function followUp(submission: SubmissionOutcome): Promise<Final> {
    const notified = new Set<string>();
    let outcome = submission;
    for (;;) {
      const { status } = outcome;
      unanswered = status === 'unanswered';
      if (status === 'sent' || status === 'unanswered') follow(status);
      await notify(outcome, notified);
      if (status === 'cancelled') return finish('cancelled', 'Cancelled.');
      if (status !== 'sent' && status !== 'unanswered') return finish(status, `Ended: ${status}.`);
      const next = await nextOutcome(status);
      unanswered = false;
      if (next.status === 'held' && status === 'unanswered') await restAfterHeld();
      outcome = next.status === 'held' ? await submit() : { ...next, status: next.status };
    }
  }

  async function restAfterHeld(): Promise<void> {
    while (outcomes[0]?.status === 'held') outcomes.shift();
    if (heldLate > 0) await sleep(Math.min(HELD_REST_MS * 2 ** (heldLate - 1), HELD_REST_MAX_MS));
    heldLate += 1;
  }

  /** The next thing the delivery reports say; at the end of the wait, that the message has expired. */
  async function nextOutcome(current: 'sent' | 'unanswered'): Promise<SubmissionOutcome | MessageOutcome> {
    if (shown !== current && !(await outcomeWithin(SHOW_SENT_AFTER_MS))) show(current);
    if (!(await outcomeWithin(input.giveUpAt - Date.now()))) {
      const over = await local.expire(id);
      // Else reports won the race in the database: their signal is on its way.
      if (over.status === 'expired' || !(await outcomeOnItsWay())) return over;
    }
    return outcomes.shift()!;
  }

  /** False: it came before the moment that Temporal was restored to, and does not come again. */
  async function outcomeOnItsWay(): Promise<boolean> {
    return await condition(() => outcomes.length > 0, SIGNAL_PATIENCE_MS);
  }

  async function outcomeWithin(ms: number): Promise<boolean> {
    if (outcomes.length > 0) return true;
    const wait = Math.max(Math.min(ms, input.giveUpAt - Date.now()), 1);
    return await condition(() => outcomes.length > 0, wait, { summary: 'waits for the delivery report' });
  }

  function follow(current: 'sent' | 'unanswered'): void {
    const until = new Date(input.giveUpAt).toISOString();
    setCurrentDetails(
      current === 'sent'
        ? `Sent: the route ${route} has it; waits for the delivery report until ${until}.`
        : `Unanswered: nobody knows whether the route ${route} has it, so it is not sent again; ` +
            `waits for a delivery report until ${until}.`,
    );
    if (current === 'unanswered') show(current);
  }

  function show(status: string): void {
    if (status === shown) return;
    shown = status;
    upsertSearchAttributes([{ key: SEARCH_ATTRIBUTES.status, value: status }]);
  }

  /** Each event once, whoever names it; first attempts may have been made with the submit. */
  async function notify(outcome: SubmissionOutcome, notified: Set<string>): Promise<void> {
    const { events, notified: attempted = [] } = outcome;
    const left = events.filter((event) => !notified.has(event));
    for (const event of left) notified.add(event);
    await deliverEvents(left, new Map(attempted.map((rest, index) => [events[index]!, rest])));
  }

  function finish(status: Final, details: string): Final {
    setCurrentDetails(details);
    show(status);
    return status;
  }
}

function notUnanswered(): ApplicationFailure {
  return ApplicationFailure.nonRetryable('no submit of it is unanswered', FAILURE.notUnanswered);
}

function notCancellable(): ApplicationFailure {
  return ApplicationFailure.nonRetryable(
    'not scheduled, or less than 30 s before its send time',
    FAILURE.notCancellable,
  );
}
