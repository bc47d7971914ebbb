import type { Context } from '@temporalio/activity';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { idsAmong, withIds } from '../telemetry/ids.ts';
import { carriedBy, IDS_HEADER } from '../workflows/headers.ts';

/** Adds ids to all log lines of an activity: those of its workflow, account, request and arguments, and those added while it runs. */
export const activityLogIds: ActivityInterceptorsFactory = ({ info }: Context) => {
  // The fairness key is the account's id.
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
      // Evaluated per line, including those that the SDK writes after the activity.
      getLogAttributes: (input, next) => next({ ...input, ...ids }),
    },
  };
};
