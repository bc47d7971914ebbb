import { Gauge, type Registry } from 'prom-client';
import type { Backlog } from '../db/money/reservations.ts';

/** Writes how many accepted messages and e-mails wait for the start of their workflows, and for how long, into a fresh registry. */
export function backlogMetrics({ total, oldestSeconds }: Backlog, registry: Registry): void {
  const registers = [registry];
  const waiting = new Gauge({
    name: 'goniec_backlog',
    help: 'Accepted messages and e-mails whose workflows are not started yet.',
    registers,
  });
  const oldest = new Gauge({
    name: 'goniec_backlog_oldest_seconds',
    help: 'How long the oldest of them has waited; 0 where there is none.',
    registers,
  });
  waiting.set(total);
  oldest.set(oldestSeconds);
}
