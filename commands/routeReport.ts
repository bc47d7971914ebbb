import type { RouteDay } from '../db/routes/routeReport.ts';
import { routeReport } from '../operations/routes/report.ts';
import { command, required, shown } from './command.ts';
import { routeName } from './values.ts';

export const routeReportCommands = [
  command({
    name: 'routes report',
    about: 'Shows what became of the last 24 hours of a route, against a week before, and its errors.',
    options: { name: required('<NAME>', 'the route', routeName) },
    async run(sql, { name }) {
      const { ratePerSecond, lastMinute, today, weekBefore, errors } = await routeReport(sql, name);
      return {
        ...shown({
          ...{ name, ratePerSecond, lastMinute, usedPercent: usedPercent(lastMinute, ratePerSecond) },
          days: [
            { day: 'last 24 hours', ...dayRecord(today) },
            { day: 'a week before', ...dayRecord(weekBefore) },
          ],
          errors,
        }),
        subject: name,
      };
    },
  }),
];

/** Of what a route's rate allows in a minute; null: there is no limit. */
export function usedPercent(lastMinute: number, ratePerSecond: number | null): number | null {
  return ratePerSecond === null ? null : Math.round((100 * lastMinute) / (60 * ratePerSecond));
}

/** A day of a route as shown. */
export function dayRecord({ submitted, delivered, ...times }: RouteDay) {
  const deliveredPercent = submitted === 0 ? null : Math.round((1000 * delivered) / submitted) / 10;
  return { submitted, delivered, deliveredPercent, ...times };
}
