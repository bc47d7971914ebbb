import type { Headers } from '@temporalio/common';
import {
  ContinueAsNew,
  proxySinks,
  type Sinks,
  workflowInfo,
  type WorkflowInterceptorsFactory,
} from '@temporalio/workflow';
import { SEARCH_ATTRIBUTES } from './contracts.ts';
import { headerOf, IDS_HEADER, TRACE_HEADER } from './headers.ts';

/** Calls from workflows to the worker. Replays make none. */
export interface TraceSinks extends Sinks {
  trace: {
    /** @param headers with the trace that the workflow was started in. @param outcome the final status, else `completed` or `failed` */
    ended(headers: Headers, seconds: number, outcome: string): void;
  };
}

const { trace } = proxySinks<TraceSinks>();

/**
 * Passes the starter's trace to activities and to the next run; to local activities also the ids of account and request, for their logs.
 * (Others have the account as fairness key.) Schedules, draws and awaits nothing, so that a history replays the same with and without a
 * trace.
 */
export const interceptors: WorkflowInterceptorsFactory = () => {
  let traced: Headers = {};
  let ids: Headers | undefined;
  return {
    inbound: [
      {
        execute(input, next) {
          const payload = input.headers[TRACE_HEADER];
          if (payload === undefined) return next(input);
          traced = { [TRACE_HEADER]: payload };
          const running = next(input);
          // Not chained into the workflow's own promise, which would change its replay.
          running.then(
            (result) => reportEnd(traced, outcomeOf(result)),
            (error: unknown) => {
              if (!(error instanceof ContinueAsNew)) reportEnd(traced, 'failed');
            },
          );
          return running;
        },
      },
    ],
    outbound: [
      {
        continueAsNew: (input, next) => next({ ...input, headers: { ...input.headers, ...traced } }),
        scheduleActivity: (input, next) => next({ ...input, headers: { ...input.headers, ...traced } }),
        scheduleLocalActivity(input, next) {
          ids ??= headerOf(IDS_HEADER, ownIds());
          return next({ ...input, headers: { ...input.headers, ...ids, ...traced } });
        },
      },
    ],
  };
};

function reportEnd(traced: Headers, outcome: string): void {
  const { startTime } = workflowInfo();
  trace.ended(traced, (Date.now() - startTime.getTime()) / 1000, outcome);
}

function outcomeOf(result: unknown): string {
  const status = (result as { status?: unknown } | undefined)?.status;
  return typeof status === 'string' ? status : 'completed';
}

function ownIds(): string[] {
  const known = workflowInfo().typedSearchAttributes;
  return [SEARCH_ATTRIBUTES.account, SEARCH_ATTRIBUTES.request]
    .map((key) => known.get(key))
    .filter((id) => id !== undefined);
}
