import type { Sql } from '../../db/connection.ts';
import { readTraffic, readWaiting, readWaking, type WakingHour } from '../../db/messages/traffic.ts';
import { readQueues } from '../../db/routes/routeOverview.ts';
import { readRoutes } from '../../db/routes/routes.ts';
import { leftover } from '../../domain/pace.ts';

const HOURS = 24;
const HOUR_MS = 3_600_000;

/** An hour of a route in which messages wake, or in which it is still behind with them. */
export interface WakeHour extends Omit<WakingHour, 'hour'> {
  from: Date;
  /** Parts still to be submitted at its end, today's queue included; null: without a limit of the route. */
  behind: number | null;
}

/** Traffic of the last hour, what waits, and what wakes in a day against the routes' rates. To be called in a transaction. */
export async function readNow(sql: Sql) {
  return { minutes: await readTraffic(sql), waiting: await readWaiting(sql), waking: await wakeHours(sql) };
}

async function wakeHours(sql: Sql): Promise<WakeHour[]> {
  const now = Date.now();
  const waking = await readWaking(sql);
  const routes = await readRoutes(sql);
  const queues = await readQueues(sql);
  return routes.flatMap(({ name, ratePerSecond }) => {
    const hours = Array.from({ length: HOURS }, (_, hour) => {
      const found = waking.find((one) => one.route === name && one.hour === hour);
      return {
        from: new Date(now + hour * HOUR_MS),
        messages: found?.messages ?? 0,
        parts: found?.parts ?? 0,
      };
    });
    const queue = queues.find((one) => one.name === name)?.queue ?? 0;
    const left = leftover(
      queue,
      hours.map(({ parts }) => parts),
      ratePerSecond,
    );
    return hours
      .map((hour, index) => ({ route: name, ...hour, behind: left?.[index] ?? null }))
      .filter(({ parts, behind }) => parts > 0 || (behind ?? 0) > 0);
  });
}
