import type { Headers } from '@temporalio/common';
import { workflowInfo, type WorkflowInterceptorsFactory } from '@temporalio/workflow';
import { SEARCH_ATTRIBUTES } from './contracts.ts';
import { idsHeader } from './idsHeader.ts';

/**
 * Hands the ids of a workflow's account and request on to its local activities, for their log lines. Ordinary ones take turns
 * under the account's id and have it there; what a local one is given leaves no trace in the history.
 */
export const interceptors: WorkflowInterceptorsFactory = () => {
  let header: Headers | undefined;
  return {
    outbound: [
      {
        scheduleLocalActivity(input, next) {
          header ??= idsHeader(ownIds());
          return next({ ...input, headers: { ...input.headers, ...header } });
        },
      },
    ],
  };
};

function ownIds(): string[] {
  const known = workflowInfo().typedSearchAttributes;
  return [SEARCH_ATTRIBUTES.account, SEARCH_ATTRIBUTES.request]
    .map((key) => known.get(key))
    .filter((id) => id !== undefined);
}
