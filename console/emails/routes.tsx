import { STAFF_ROLES } from '../../domain/staff.ts';
import { showEmail } from '../../operations/support/emailView.ts';
import type { Fault } from '../../panel/ask.ts';
import type { Answer } from '../../panel/route.ts';
import { askingOf, orMissing, workflowUrl } from '../asking.ts';
import { masked } from '../reason.tsx';
import { staffPage, type StaffVisit } from '../route.ts';
import { Email } from './view.tsx';

function page(visit: StaffVisit, reason: string | null, fault: Fault | null): Promise<Answer> {
  return orMissing(async () => {
    const { path, staff, params } = visit;
    const id = params['id'] ?? '';
    const whole = reason !== null;
    const email = await showEmail({ ...askingOf(visit, reason), input: { id, addresses: whole } });
    const url = workflowUrl(visit, id);
    const view = <Email {...{ email, whole, path, url, fault }} role={staff.role} />;
    return { status: fault === null ? 200 : 422, title: `E-mail ${id}`, view };
  });
}

export const emailRoutes = [staffPage('/console/emails/:id', STAFF_ROLES, masked(page))];
