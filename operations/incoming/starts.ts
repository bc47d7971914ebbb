import type { Running } from '../../concurrency/tasks.ts';
import { inboundStart } from '../../workflows/startOptions.ts';
import type { Services } from '../asked.ts';
import { storeReplies } from '../../db/incoming/inbound.ts';
import { storeReports } from '../../db/incoming/deliveryReports.ts';
import { storeLookupAnswer } from '../../db/lookups/lookups.ts';
import type { CallbackContent } from '../../providers/callbacks.ts';
import { countReports } from '../../telemetry/messageMetrics.ts';

const START_MS = 5_000;

/** What starts a workflow that nobody waits for. */
interface StartServices extends Pick<Services, 'temporal' | 'log'> {
  /** Remembers what is under way, for a stop. */
  background: Running;
}

/** Stores what a route's provider brought. */
export async function storeContent(
  services: StartServices & Pick<Services, 'sql'>,
  route: string,
  content: CallbackContent,
): Promise<void> {
  const { sql } = services;
  switch (content.kind) {
    case 'reports':
      // Applied by the workers, who look for stored reports all the time.
      await storeReports(sql, route, content.reports);
      countReports(route, content.reports);
      return;
    case 'replies':
      for (const id of await storeReplies(sql, route, content.replies)) startInbound(services, id);
      return;
    case 'lookup':
      await storeLookupAnswer(sql, route, content.providerId, content.answer);
  }
}

/** Starts the workflow of a stored reply. Nobody waits for it: the workers look for replies that nobody processed. */
function startInbound({ temporal, background, log }: StartServices, id: string): void {
  const starting = temporal.connection
    .withDeadline(Date.now() + START_MS, () => temporal.workflow.start('inbound', inboundStart(id)))
    .catch((error: unknown) => log.warn({ err: error, replyId: id }, 'a reply is processed later'));
  background.add(starting);
}
