/** The answer of `accept`: charged and on its way, or not charged and never sent. */
export type Acceptance = DecidedByCharge | { accepted: false; reason: Exclude<Refusal, Unpaid> };
/** What a charge itself decides. */
export type DecidedByCharge = { accepted: true } | { accepted: false; reason: Unpaid };
/** `abandoned`: the caller was answered with a failure first; `too_late`: nobody waits for this answer any more. */
export type Refusal = Unpaid | 'abandoned' | 'too_late';

type Unpaid = 'insufficient_funds';
