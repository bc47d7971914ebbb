import { z } from 'zod';
import { createProviderHttp } from '../../providers/http.ts';

const LIMITS = { writtenWithinMs: 3_000, answeredWithinMs: 5_000 };
const ORDER = ['firing', 'pending', 'inactive'];

const text = z.string().catch('');

// https://prometheus.io/docs/prometheus/latest/querying/api/#rules
const answer = z.object({
  status: z.literal('success'),
  data: z.object({
    groups: z.array(
      z.object({
        rules: z.array(
          z.object({
            name: z.string(),
            state: z.enum(['firing', 'pending', 'inactive']),
            health: text,
            labels: z.record(z.string(), z.string()).catch({}),
            alerts: z
              .array(
                z.object({
                  state: z.enum(['firing', 'pending']),
                  activeAt: z.coerce.date(),
                  annotations: z.record(z.string(), z.string()).catch({}),
                }),
              )
              .catch([]),
          }),
        ),
      }),
    ),
  }),
});

/** One alert of a rule, or a rule without any. Texts are third-party. */
export interface AlertState {
  name: string;
  state: 'firing' | 'pending' | 'inactive';
  severity: string;
  since: Date | null;
  summary: string;
  /** Whether Prometheus can evaluate the rule: `ok`, `err`, `unknown`. */
  health: string;
}

/** `problem` is why Prometheus could not be read: an error code, its status, or `unreadable`. */
export type Alerts = { alerts: AlertState[] } | { problem: string };

/** Asks Prometheus for the state of its alert rules, firing ones first, within five seconds. @param url without a trailing slash */
export async function readAlerts(url: string): Promise<Alerts> {
  const http = createProviderHttp([url], {});
  try {
    const got = await http.send({ method: 'GET', path: '/api/v1/rules?type=alert' }, LIMITS);
    if (got.kind !== 'answered') return { problem: got.code };
    if (got.status !== 200) return { problem: String(got.status) };
    const read = answer.safeParse(got.json);
    return read.success ? { alerts: alertsOf(read.data) } : { problem: 'unreadable' };
  } finally {
    await http.close();
  }
}

function alertsOf({ data: { groups } }: z.infer<typeof answer>): AlertState[] {
  return groups
    .flatMap(({ rules }) => rules)
    .flatMap(({ name, state, health, labels, alerts }): AlertState[] => {
      const rule = { name, severity: labels['severity'] ?? '', health };
      if (alerts.length === 0) return [{ ...rule, state, since: null, summary: '' }];
      return alerts.map(({ state, activeAt, annotations }) => ({
        ...{ ...rule, state, since: activeAt },
        summary: annotations['summary'] ?? '',
      }));
    })
    .sort((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state) || a.name.localeCompare(b.name));
}
