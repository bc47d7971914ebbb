import type { StaffRole } from '../domain/staff.ts';
import type { Fault } from '../panel/ask.ts';
import { Hidden, TextArea } from '../panel/parts.tsx';
import type { Answer } from '../panel/route.ts';
import type { StaffVisit } from './route.ts';
import { problemPage } from './shell.tsx';

const REASON_MAX = 500;

export const NO_REASON = { field: 'reason', text: `A reason of 1 to ${REASON_MAX} characters is needed.` };

/** Why something is to be done or shown; null: nobody said, or too much. */
export function reasonIn({ form }: Pick<StaffVisit, 'form'>): string | null {
  const reason = (form.get('reason') ?? '').trim();
  return reason === '' || [...reason].length > REASON_MAX ? null : reason;
}

/** @param hint who reads it */
export function ReasonField({
  fault,
  hint = 'The audit log keeps it.',
}: {
  fault: Fault | null;
  hint?: string;
}) {
  return <TextArea name="reason" label="Reason" hint={hint} required maxLength={REASON_MAX} fault={fault} />;
}

/** Who is shown numbers, addresses and texts in full: money needs none of them. */
export const mayReveal = (role: StaffRole): boolean => role !== 'finance';

interface RevealProps {
  role: StaffRole;
  to: string;
  what: string;
  fault: Fault | null;
  fields?: Readonly<Record<string, string>>;
}

/** Asks why everything is to be shown. */
export function Reveal({ role, to, what, fault, fields = {} }: RevealProps) {
  if (!mayReveal(role)) return null;
  return (
    <details open={fault !== null}>
      <summary>Show {what}</summary>
      <form method="post" action={to} class="stack" noValidate>
        <Hidden fields={fields} />
        <ReasonField fault={fault} />
        <button>Show</button>
      </form>
    </details>
  );
}

type Page = (visit: StaffVisit, reason: string | null, fault: Fault | null) => Promise<Answer>;

/** The handlers of a page that is masked, and by a POST with a reason is not. */
export function masked(page: Page) {
  return {
    get: (visit: StaffVisit) => page(visit, null, null),
    post(visit: StaffVisit) {
      if (!mayReveal(visit.staff.role)) return problemPage(403);
      const reason = reasonIn(visit);
      return page(visit, reason, reason === null ? NO_REASON : null);
    },
  };
}
