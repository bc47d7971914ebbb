import { Counter } from 'prom-client';
import { registry } from './registry.ts';

const events = new Counter({
  name: 'goniec_email_events_total',
  help: 'What providers reported of e-mails, by kind, as it was applied.',
  labelNames: ['route', 'kind'],
  registers: [registry],
});

/** Counts an event that was applied to its e-mail. */
export function countEmailEvent(route: string, kind: string): void {
  events.inc({ route, kind });
}
