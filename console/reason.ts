import type { StaffVisit } from './route.ts';

export const REASON_MAX = 500;

/** Why staff do something, as they typed it; null: not at all, or at too great a length. */
export function reasonIn({ form }: Pick<StaffVisit, 'form'>): string | null {
  const reason = (form.get('reason') ?? '').trim();
  return reason === '' || [...reason].length > REASON_MAX ? null : reason;
}

/** What a form without a reason is told. */
export const NO_REASON = { field: 'reason', text: `A reason of 1 to ${REASON_MAX} characters is needed.` };
