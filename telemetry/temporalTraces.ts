import { AsyncLocalStorage } from 'node:async_hooks';
import type { Headers, WorkflowClientInterceptor } from '@temporalio/client';
import type { ActivityInterceptorsFactory, InjectedSinks } from '@temporalio/worker';
import { carriedTrace, traceHeader } from '../workflows/traceHeader.ts';
import type { TraceSinks, WorkflowStep } from '../workflows/tracing.ts';
import { idsAmong } from './ids.ts';
import { idAttributes, tracing } from './tracing.ts';

/** Why a call is made that no span under way has caused. */
interface Cause {
  /** A `traceparent`. */
  trace: string;
  /** Whether a workflow that is started gets a trace of its own, linked to that one: it is one of thousands. */
  apart: boolean;
}

const causes = new AsyncLocalStorage<Cause>();

/** Makes calls of Temporal that belong to the trace of something that has ended since, such as a request; null: to none. */
export function causedBy<T>(trace: string | null, { apart }: Pick<Cause, 'apart'>, call: () => Promise<T>) {
  return trace === null ? call() : causes.run({ trace, apart }, call);
}

/** Traces of a client's calls, and the header by which workflows go on with them; none while traces are off. */
export function clientTraces(): WorkflowClientInterceptor[] {
  const traces = tracing();
  if (traces === null) return [];
  // What nothing traced has caused is of no interest by itself.
  const calling = <T>(name: string, workflowId: string | undefined, call: () => Promise<T>): Promise<T> => {
    const parent = causes.getStore()?.trace ?? traces.current();
    if (parent === null) return call();
    return traces.within({ name, kind: 'client', attributes: aboutWorkflow(workflowId ?? ''), parent }, call);
  };
  const withTrace = (headers: Headers): Headers => {
    const parent = traces.current();
    if (parent === null) return headers;
    return { ...headers, ...traceHeader({ parent, ...(causes.getStore()?.apart ? { apart: true } : {}) }) };
  };
  return [
    {
      startWithDetails: (input, next) =>
        calling(`start ${input.workflowType}`, input.options.workflowId, () =>
          next({ ...input, headers: withTrace(input.headers) }),
        ),
      startUpdateWithStart(input, next) {
        const name = `${input.updateName} with start of ${input.workflowType}`;
        return calling(name, input.workflowStartOptions.workflowId, () => {
          const workflowStartHeaders = withTrace(input.workflowStartHeaders);
          return next({ ...input, workflowStartHeaders });
        });
      },
      startUpdate: (input, next) =>
        calling(`update ${input.updateName}`, input.workflowExecution.workflowId ?? undefined, () =>
          next(input),
        ),
      signal: (input, next) =>
        calling(`signal ${input.signalName}`, input.workflowExecution.workflowId ?? undefined, () =>
          next(input),
        ),
    },
  ];
}

/** Traces of the activities of traced workflows; none while traces are off. */
export function activityTraces(): ActivityInterceptorsFactory[] {
  const traces = tracing();
  if (traces === null) return [];
  return [
    ({ info }) => ({
      inbound: {
        async execute(input, next) {
          const carried = carriedTrace(input.headers);
          if (carried === undefined) return next(input);
          const attributes = {
            ...aboutWorkflow(info.workflowExecution?.workflowId ?? ''),
            'goniec.attempt': info.attempt,
            'goniec.waited_ms': Math.max(Date.now() - info.currentAttemptScheduledTimestampMs, 0),
            'goniec.task_queue': info.taskQueue,
          };
          const name = `activity ${info.activityType}`;
          return traces.within({ name, kind: 'consumer', attributes, parent: carried.parent }, () =>
            next(input),
          );
        },
      },
    }),
  ];
}

/** Where the workflows of a worker report their steps; nowhere while traces are off. */
export function workflowTraces(): { sinks?: InjectedSinks<TraceSinks> } {
  const traces = tracing();
  if (traces === null) return {};
  const sinks: InjectedSinks<TraceSinks> = {
    trace: {
      step: {
        fn({ workflowId, runId }, { outcome, ...step }: WorkflowStep) {
          const attributes = {
            ...aboutWorkflow(workflowId),
            'goniec.run_id': runId,
            ...(outcome === undefined ? {} : { 'goniec.outcome': outcome }),
          };
          traces.placed({ ...step, attributes });
        },
      },
    },
  };
  return { sinks };
}

function aboutWorkflow(workflowId: string) {
  return { 'goniec.workflow_id': workflowId, ...idAttributes(idsAmong([workflowId])) };
}
