import type { Database } from '../../db/connection.ts';
import type { HitKind } from '../../db/support/kinds.ts';
import { type Hit, readHits } from '../../db/support/search.ts';
import { maskAddress } from '../../domain/email/address.ts';
import { maskMsisdn } from '../../domain/msisdn.ts';
import { readSought, type Sought } from '../../domain/search.ts';

/** Something that was found; numbers and addresses are masked. `by`: what of it is as sought. */
export interface FoundThing {
  kind: HitKind;
  by: string;
  /** Null for what only its account and a number or address name. */
  id: string | null;
  accountId: string | null;
  at: Date | null;
  about: string;
}

export interface Found {
  /** In groups by kind and `by`, each newest first. */
  things: FoundThing[];
  /** Groups of which only the newest are among them. */
  cutOff: string[];
  /** Groups that were given up: what is there is not known. */
  tooSlow: string[];
  /** What the text was read as, without personal data. */
  soughtAs: string[];
}

/** Finds what a customer quotes, in any form, over all accounts or in one. @param pasted at most SOUGHT_MAX characters */
export async function search(sql: Database, pasted: string, accountId: string | null): Promise<Found> {
  const sought = readSought(pasted);
  const groups = await readHits(sql, sought, accountId);
  const namesOf = (some: typeof groups) => some.map(({ kind, by }) => `${kind} by ${by}`);
  return {
    things: groups.flatMap(({ kind, by, hits }) => hits.map((hit) => ({ kind, by, ...shownOf(hit) }))),
    cutOff: namesOf(groups.filter(({ hasMore }) => hasMore)),
    tooSlow: namesOf(groups.filter(({ tooSlow }) => tooSlow)),
    soughtAs: withoutPersons(sought),
  };
}

function shownOf({ id, accountId, at, about, whom }: Hit) {
  return { id, accountId, at, about: [about, whom && masked(whom)].filter(Boolean).join(', ') };
}

function masked(whom: string): string {
  return whom.includes('@') ? maskAddress(whom) : maskMsisdn(whom);
}

/** A text may be a name, and is left out. */
function withoutPersons({ ids, msisdn, address, text }: Sought): string[] {
  const whom = [msisdn, address].filter((value) => value !== null).map(masked);
  return [...ids, ...whom, ...(text === null ? [] : ['text'])];
}
