import type { Running } from '../../concurrency/running.ts';
import type { UncountedClick } from '../../db/links/clicks.ts';
import { clickStart } from '../../workflows/startOptions.ts';
import type { Services } from '../asked.ts';

// What comes beyond this is left to the workers, who look for uncounted clicks: a burst must not hold our memory.
const UNDER_WAY_MAX = 16;
const START_MS = 5_000;

/** What starts a workflow that nobody waits for. */
export interface StartServices extends Pick<Services, 'temporal' | 'log'> {
  /** Remembers what is under way, for a stop. */
  background: Running;
}

const underWay = new WeakMap<StartServices, number>();

/** Starts the workflow of a stored click. Nobody waits for it, and nothing is lost when it fails: the click is stored. */
export function startClick(services: StartServices, click: UncountedClick): void {
  const { temporal, background, log } = services;
  const starts = underWay.get(services) ?? 0;
  if (starts >= UNDER_WAY_MAX) return;
  underWay.set(services, starts + 1);
  const starting = temporal.connection
    .withDeadline(Date.now() + START_MS, () => temporal.workflow.start('click', clickStart(click)))
    .catch((error: unknown) => log.warn({ err: error, clickId: click.id }, 'a click is counted later'))
    .finally(() => underWay.set(services, underWay.get(services)! - 1));
  background.add(starting);
}
