export const STAFF_ROLES = ['support', 'operator', 'finance', 'admin'] as const;
/** What one of staff does: which commands the console offers them. */
export type StaffRole = (typeof STAFF_ROLES)[number];
