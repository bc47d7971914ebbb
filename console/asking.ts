import { describeError } from '../commands/errors.ts';
import { temporalWorkflow } from '../domain/temporalViews.ts';
import { staffServices } from '../operations/staff.ts';
import type { Answer } from '../panel/route.ts';
import { askerOf, type StaffVisit } from './route.ts';
import { problemPage } from './shell.tsx';

/** How the page asks operations. @param reason why everything is to be shown; null: it is not */
export function askingOf(visit: StaffVisit, reason: string | null) {
  visit.acquireHeavySlot();
  const grounds = reason === null ? {} : { grounds: { reason } };
  return { services: staffServices(visit.services), ...askerOf(visit), ...grounds };
}

/** The page of something, or that there is no such thing. */
export async function orMissing(page: () => Promise<Answer>): Promise<Answer> {
  try {
    return await page();
  } catch (error) {
    const { code, message } = describeError(error);
    if (code !== 'not_found') throw error;
    return problemPage(404, message);
  }
}

/** A workflow in the Temporal UI; null: it is not known where that is. */
export function workflowUrl({ settings, services }: StaffVisit, id: string): string | null {
  const { temporalUiUrl: url } = settings;
  return url === null ? null : temporalWorkflow({ url, namespace: services.temporal.options.namespace }, id);
}
