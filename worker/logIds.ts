import type { Context } from '@temporalio/activity';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { idsAmong, withIds } from '../telemetry/ids.ts';
import { carriedBy, IDS_HEADER } from '../workflows/headers.ts';

/**
 * Lets every line that is logged about an activity carry the ids it is about: those of its workflow, its account, its
 * request and its arguments, and those that it finds on its way.
 */
export const activityLogIds: ActivityInterceptorsFactory = ({ info }: Context) => {
  // An account's work takes turns with that of others under the account's id.
  const ids = idsAmong([info.workflowExecution?.workflowId, info.priority?.fairnessKey]);
  return {
    inbound: {
      execute(input, next) {
        const carried = carriedBy<string[]>(IDS_HEADER, input.headers) ?? [];
        Object.assign(ids, { ...idsAmong([...carried, ...input.args]), ...ids });
        return withIds(ids, () => next(input));
      },
    },
    outbound: {
      // Asked anew for each line, also for those that the SDK writes after the activity.
      getLogAttributes: (input, next) => next({ ...input, ...ids }),
    },
  };
};
