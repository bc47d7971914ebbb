import { countClick } from '../db/links/clicks.ts';
import type { Database } from '../db/connection.ts';
import { unknownClick } from './failures.ts';

/** What the `click` workflow does. */
export function linkActivities(sql: Database) {
  return {
    /**
     * Counts the click, once; returns the webhook event that is to be delivered for it, if any.
     * @throws ApplicationFailure `UnknownClick`, for good
     */
    async countClick(clickId: string): Promise<string | null> {
      const event = await countClick(sql, clickId);
      if (event === undefined) throw unknownClick(clickId);
      return event;
    },
  };
}
