import { maskMsisdn } from '../../domain/msisdn.ts';
import { orderRoutes, type Routing, type Traffic } from '../../domain/routing.ts';
import { findAccount } from '../accounts/find.ts';
import { recorded } from '../staff.ts';
import { routingNow } from './uses.ts';

// So many messages are imagined to see how they would be shared out.
const SAMPLES = 1_000;

interface Input {
  /** The recipient, E.164. */
  to: string;
  /** One without rules of its own unless it says otherwise. */
  account?: string;
  /** `sms` unless it says otherwise. */
  type?: Traffic['type'];
  priority?: boolean;
}

/** A route that a message would take. */
export interface Choice {
  route: string;
  /** Of all such messages, the share that would take it first; 0 to 1. */
  firstShare: number;
  working: boolean;
}

/** Lists the routes that a message would take now, the first choice first. @throws StaffRefused account_missing */
export const whichRoutes = recorded('routes which', async (sql, input: Input) => {
  const { to: msisdn, account, type = 'sms', priority = false } = input;
  if (account !== undefined) await findAccount(sql, account);
  const data = choices(await routingNow(sql), { msisdn, accountId: account ?? '', type, priority });
  return { data, subject: maskMsisdn(msisdn), account };
});

function choices(routing: Routing, traffic: Omit<Traffic, 'key'>): Choice[] {
  const placed = new Map<string, { first: number; places: number }>();
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    for (const [place, name] of orderRoutes(routing, { ...traffic, key: `sample ${sample}` }).entries()) {
      const { first, places } = placed.get(name) ?? { first: 0, places: 0 };
      placed.set(name, { first: first + Number(place === 0), places: places + place });
    }
  }
  return [...placed]
    .sort(([, a], [, b]) => a.places - b.places)
    .map(([name, { first }]) => ({
      route: name,
      firstShare: first / SAMPLES,
      working: routing.routes.find((route) => route.name === name)?.working === true,
    }));
}
