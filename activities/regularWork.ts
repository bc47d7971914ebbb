import { log } from '@temporalio/activity';
import type { Database } from '../db/connection.ts';
import { noteSuccess } from '../db/maintenance/regularWork.ts';

type Activities = Record<string, (...args: never[]) => Promise<unknown>>;

/**
 * The same activities; each notes when it has succeeded, for whoever watches that the regular work gets done: one that leaves something
 * for its next call has not yet, so that it shows where more comes than is done. What is done stays done where that cannot be noted.
 */
export function notingSuccess<Steps extends Activities>(sql: Database, steps: Steps): Steps {
  const noting = Object.entries(steps).map(([activity, step]) => [
    activity,
    async (...args: never[]) => {
      const result = await step(...args);
      if (leavesSome(result)) return result;
      await noteSuccess(sql, activity).catch((error: unknown) => {
        log.warn('regular work: a success could not be noted', { error });
      });
      return result;
    },
  ]);
  return Object.fromEntries(noting) as Steps;
}

function leavesSome(result: unknown): boolean {
  return typeof result === 'object' && result !== null && 'left' in result;
}
