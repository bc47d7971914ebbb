/** The answer of `accept`: charged and on its way, or not charged and never sent. */
export type Acceptance = { accepted: true } | { accepted: false; reason: Refusal };
/** `abandoned`: the caller was answered with a failure first; `too_late`: nobody waits for this answer any more. */
export type Refusal = 'insufficient_funds' | 'abandoned' | 'too_late';

/** What was decided of requests that were charged together, each for itself, by their ids. */
export interface Acceptances {
  accepted: string[];
  refused: Record<string, Refusal>;
  /** Nothing is decided: somebody else has the request, or its account's money, in hand. Each is charged by itself. */
  left: string[];
}

/** What a request costs. */
export interface Cost {
  requestId: string;
  accountId: string;
  /** Grosze net, paid by the balance unless there are test credits to pay. */
  grosze: number;
  testCredits: number;
}

/** What an account may spend. */
export interface Purse {
  accountId: string;
  /** Its balance in grosze, of a postpaid account with its credit limit; negative: more than that is spent. */
  availableGrosze: number;
  testCredits: number;
}

/**
 * Decides which of several requests are paid, one after the other: one that costs more than is left then is refused alone, and
 * whoever comes after it may be able to pay less.
 * @param purses those of all accounts concerned
 * @returns the ids of those that are paid
 */
export function payInOrder(costs: readonly Cost[], purses: readonly Purse[]): Set<string> {
  const left = new Map(purses.map((purse) => [purse.accountId, { ...purse }]));
  const paid = new Set<string>();
  for (const { requestId, accountId, grosze, testCredits } of costs) {
    const purse = left.get(accountId);
    if (purse === undefined) continue;
    const due = testCredits > 0 ? 0 : grosze;
    if ((due > 0 && due > purse.availableGrosze) || testCredits > purse.testCredits) continue;
    purse.availableGrosze -= due;
    purse.testCredits -= testCredits;
    paid.add(requestId);
  }
  return paid;
}

/** What was decided of one of them; null: nothing. */
export function acceptanceOf({ accepted, refused }: Acceptances, requestId: string): Acceptance | null {
  if (accepted.includes(requestId)) return { accepted: true };
  const reason = Object.hasOwn(refused, requestId) ? refused[requestId] : undefined;
  return reason === undefined ? null : { accepted: false, reason };
}
