import { readAlerts } from '../operations/support/alerts.ts';
import { readNow } from '../operations/support/now.ts';
import { command, type Shown, shown } from './command.ts';

export const nowCommands = [
  command({
    name: 'now',
    about:
      'Shows the last hour by the minute, what waits, and what wakes in a day against the routes’ rates.',
    options: {},
    async run(sql) {
      const { minutes, waiting, waking } = await readNow(sql);
      const late = [...new Set(waking.filter(({ behind }) => (behind ?? 0) > 0).map(({ route }) => route))];
      return shown(
        { waiting, waking, minutes },
        late.length === 0 ? null : `More wakes within an hour than the rate allows: ${late.join(', ')}.`,
      );
    },
  }),
  command({
    name: 'alerts',
    about: 'Shows the state of the alert rules, as Prometheus has it.',
    options: {},
    outside: true,
    async run(_, __, tools): Promise<Shown> {
      const url = await tools.prometheusUrl();
      if (url === null) return shown({ data: [] }, 'PROMETHEUS_URL is not set.');
      const read = await readAlerts(url);
      if ('problem' in read) return shown({ data: [] }, `Prometheus could not be asked (${read.problem}).`);
      return shown({ data: read.alerts });
    },
  }),
];
