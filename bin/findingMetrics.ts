import { Gauge, type Registry } from 'prom-client';
import type { FindingKind } from '../db/maintenance/findings.ts';

/** Writes how many findings of the reconciliation wait for a person into a fresh registry; labels are their kinds. */
export function findingMetrics(found: { kind: FindingKind; open: number }[], registry: Registry): void {
  const gauge = new Gauge({
    name: 'goniec_findings_open',
    help: 'What the reconciliation found and a person has to look at (npm run admin -- findings list).',
    labelNames: ['kind'],
    registers: [registry],
  });
  for (const { kind, open } of found) gauge.set({ kind }, open);
}
