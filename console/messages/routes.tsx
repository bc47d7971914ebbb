import { STAFF_ROLES } from '../../domain/staff.ts';
import { showMessage } from '../../operations/support/messageView.ts';
import type { Fault } from '../../panel/ask.ts';
import type { Answer } from '../../panel/route.ts';
import { masked } from '../reason.tsx';
import { staffPage, type StaffVisit } from '../route.ts';
import { askingOf, orMissing, workflowUrl } from '../asking.ts';
import { Message } from './view.tsx';

function page(visit: StaffVisit, reason: string | null, fault: Fault | null): Promise<Answer> {
  return orMissing(async () => {
    const { path, staff, params } = visit;
    const id = params['id'] ?? '';
    const input = { id, text: reason !== null };
    const message = await showMessage({ ...askingOf(visit, reason), input });
    const url = workflowUrl(visit, id);
    const view = <Message {...{ message, path, url, fault }} role={staff.role} />;
    return { status: fault === null ? 200 : 422, title: `Message ${id}`, view };
  });
}

export const messageRoutes = [staffPage('/console/messages/:id', STAFF_ROLES, masked(page))];
