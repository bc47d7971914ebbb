import { Gauge, type Registry } from 'prom-client';
import type { RegularWorkState } from '../db/maintenance/regularWork.ts';

/** Writes when the steps of the regular work last succeeded into a fresh registry; labels are schedules and their activities. */
export function regularWorkMetrics(states: readonly RegularWorkState[], registry: Registry): void {
  const labelNames = ['schedule', 'activity'];
  const registers = [registry];
  const since = new Gauge({
    name: 'goniec_regular_work_seconds_since_success',
    help: 'Time since a step of the regular work last succeeded; before its first success, since it is expected.',
    ...{ labelNames, registers },
  });
  const interval = new Gauge({
    name: 'goniec_regular_work_interval_seconds',
    help: 'How often a step of the regular work runs.',
    ...{ labelNames, registers },
  });
  for (const { schedule, activity, secondsSinceSuccess, intervalSeconds } of states) {
    since.set({ schedule, activity }, secondsSinceSuccess);
    interval.set({ schedule, activity }, intervalSeconds);
  }
}
