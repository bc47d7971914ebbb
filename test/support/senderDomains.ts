import { type DnsServer, inChunks } from './dnsServer.ts';

/** A record as the command line shows it. */
export interface ShownRecord {
  type: 'TXT' | 'MX' | 'CNAME';
  name: string;
  value: string;
  priority: number | null;
  purpose: string;
  seen: boolean;
}

/** A sender domain as the command line shows it. */
export interface ShownDomain {
  id: string;
  name: string;
  status: string;
  is_default: boolean;
  records: ShownRecord[];
  routes: { route: string; verified: boolean; problem: string | null; records: ShownRecord[] }[];
}

/** Sets records as their owner would. */
export function setRecords({ zone }: DnsServer, records: readonly ShownRecord[]): void {
  for (const { type, name, value, priority } of records) {
    const before = zone.get(name);
    const at = typeof before === 'object' ? before : {};
    if (type === 'TXT') zone.set(name, { ...at, TXT: [...(at.TXT ?? []), inChunks(value)] });
    if (type === 'MX')
      zone.set(name, { ...at, MX: [{ exchange: value.toUpperCase(), preference: (priority ?? 0) + 5 }] });
  }
}
