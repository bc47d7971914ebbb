import { Context } from '@temporalio/activity';
import { moveToRoute, type SubmittableMessage } from '../../db/messages/submissions.ts';
import { workingRoute } from '../../domain/routing.ts';
import { NO_SESSION } from '../../domain/submission.ts';
import type { MovedOn, SubmissionRound } from '../../workflows/contracts.ts';
import { routeUnavailable } from '../failures.ts';
import { usualPause } from '../lastAttempt.ts';
import type { Submitting } from './submitting.ts';

// A message that moved before stays on a broken route for a while, longer each time: two broken ones do not play ball.
const MOVE_AGAIN_MS = 10_000;
const MOVE_AGAIN_MAX_MS = 3_600_000;

/**
 * The route does not work: the next one gets the message, unless none works or this one has some of it already.
 * @throws ApplicationFailure `RouteUnavailable`, to be tried again here
 */
export async function moveOn(
  { sql, provider, routing, retries }: Submitting,
  message: SubmittableMessage,
  code: string,
  { moves }: SubmissionRound,
): Promise<MovedOn> {
  const now = await routing();
  const self = now.routes.find(({ name }) => name === provider.name);
  // Without a session for a moment only: it will be back before another route is worth it.
  const blip = code === NO_SESSION && self?.working === true && self.state !== 'disabled';
  if (!blip && hasRested(moves)) {
    const traffic = {
      ...{ key: message.id, msisdn: message.recipient, accountId: message.accountId },
      ...{ type: message.channel, priority: message.priority },
    };
    const next = workingRoute(now, traffic, (name) => name !== provider.name);
    if (next !== null && (await moveToRoute(sql, message.id, provider.name, next))) {
      return { status: 'moved', route: next };
    }
  }
  const usualMs = usualPause(Context.current().info.attempt);
  throw routeUnavailable(provider.name, code, retries.beyond(message.accountId, usualMs));
}

function hasRested(moves: number): boolean {
  if (moves === 0) return true;
  const here = Date.now() - Context.current().info.scheduledTimestampMs;
  return here >= Math.min(MOVE_AGAIN_MS * 2 ** (moves - 1), MOVE_AGAIN_MAX_MS);
}
