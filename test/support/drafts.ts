import { newId } from '../../db/ids.ts';
import type { Draft, KeyClaim, Single } from '../../db/messages/drafts.ts';

/** A draft of a request of its own, as the service would write it. */
export function draftOf(accountId: string, costGrosze: number, other: Partial<Draft> = {}): Draft {
  const now = new Date();
  return {
    ...{ id: newId('msg'), accountId, requestId: newId('req'), batched: false, channel: 'sms' },
    ...{ status: 'queued', acceptedAs: 'queued', recipient: '+48500100200', country: 'PL', sender: null },
    ...{ text: 'x', content: null, parts: 1, cut: 'gsm7', links: [], optOutToken: null, costGrosze },
    ...{ testCredits: 0, priority: false, reference: null, interface: 'v2', idx: null, sendAt: null },
    ...{ expiresAt: null, giveUpAt: new Date(now.getTime() + 3_600_000), route: 'simulator' },
    ...{ deliveredAt: null, errorCode: null, createdAt: now, updatedAt: now },
    ...other,
  };
}

/** It, with the claim of a key where one is named. */
export function singleOf(draft: Draft, key?: string): Single {
  if (key === undefined) return { draft, claim: null };
  const answer: Omit<KeyClaim, 'key'> = {
    ...{ fingerprint: Buffer.from('f'), acceptedStatus: 201, acceptedBody: { id: draft.id } },
  };
  return { draft, claim: { key, ...answer } };
}
