/** The answer of `accept`: charged and on its way, or not charged and never sent. */
export type Acceptance = { accepted: true } | { accepted: false; reason: Refusal };
/** `abandoned`: the caller was answered with a failure first; `too_late`: nobody waits for this answer any more. */
export type Refusal = 'insufficient_funds' | 'abandoned' | 'too_late';
