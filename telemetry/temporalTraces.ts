import { type Attributes, type Context, context, ROOT_CONTEXT, SpanKind, trace } from '@opentelemetry/api';
import type { Headers, WorkflowClientInterceptor } from '@temporalio/client';
import type { ActivityInterceptorsFactory, InjectedSinks } from '@temporalio/worker';
import { carriedBy, headerOf, TRACE_HEADER } from '../workflows/headers.ts';
import type { TraceSinks } from '../workflows/interceptors.ts';
import { idsAmong } from './ids.ts';
import {
  type Carrier,
  contextOf,
  currentCarrier,
  idAttributes,
  inSpan,
  isTracing,
  linksTo,
  recordEnded,
} from './tracing.ts';

/**
 * Runs Temporal calls in the trace of something that has ended, such as a request; null: in none.
 * @param apart in a linked trace of its own, as one message among thousands
 */
export async function inTraceOf<T>(
  traceparent: string | null,
  apart: boolean,
  call: () => Promise<T>,
): Promise<T> {
  if (!isTracing() || traceparent === null) return await call();
  if (!apart) return await context.with(contextOf({ traceparent }), call);
  return await inSpan('message of a request', { links: linksTo(traceparent) }, call, ROOT_CONTEXT);
}

/** Traces a client's calls and passes the trace on to workflows; none while tracing is off. */
export function clientTraces(): WorkflowClientInterceptor[] {
  if (!isTracing()) return [];
  return [
    {
      startWithDetails: (input, next) =>
        calling(`start ${input.workflowType}`, input.options.workflowId, () =>
          next({ ...input, headers: withTrace(input.headers) }),
        ),
      startUpdateWithStart: (input, next) =>
        calling(
          `${input.updateName} with start of ${input.workflowType}`,
          input.workflowStartOptions.workflowId,
          () => next({ ...input, workflowStartHeaders: withTrace(input.workflowStartHeaders) }),
        ),
      startUpdate: (input, next) =>
        calling(`update ${input.updateName}`, input.workflowExecution.workflowId, () => next(input)),
      signal: (input, next) =>
        calling(`signal ${input.signalName}`, input.workflowExecution.workflowId, () => next(input)),
    },
  ];
}

// A call without a traced cause is not worth a trace.
async function calling<T>(
  name: string,
  workflowId: string | null | undefined,
  call: () => Promise<T>,
): Promise<T> {
  if (trace.getActiveSpan() === undefined) return await call();
  const attributes = aboutWorkflow(workflowId ?? '');
  return await inSpan(name, { kind: SpanKind.CLIENT, attributes }, call);
}

function withTrace(headers: Headers): Headers {
  const carrier = currentCarrier();
  return 'traceparent' in carrier ? { ...headers, ...headerOf(TRACE_HEADER, carrier) } : headers;
}

/** Traces the activities of traced workflows; none while tracing is off. */
export function activityTraces(): ActivityInterceptorsFactory[] {
  if (!isTracing()) return [];
  return [
    ({ info }) => ({
      inbound: {
        async execute(input, next) {
          const parent = carriedContext(input.headers);
          if (trace.getSpanContext(parent) === undefined) return next(input);
          const attributes = {
            ...aboutWorkflow(info.workflowExecution?.workflowId ?? ''),
            'goniec.attempt': info.attempt,
            'goniec.waited_ms': Math.max(Date.now() - info.currentAttemptScheduledTimestampMs, 0),
            'goniec.task_queue': info.taskQueue,
          };
          const options = { kind: SpanKind.CONSUMER, attributes };
          return await inSpan(`activity ${info.activityType}`, options, () => next(input), parent);
        },
      },
    }),
  ];
}

/** Receives the end of workflows. Present while tracing is off, because workflows that were traced before still call it. */
export const workflowSinks: InjectedSinks<TraceSinks> = {
  trace: {
    ended: {
      fn({ workflowId, workflowType, runId }, headers, seconds, outcome) {
        const attributes = {
          ...aboutWorkflow(workflowId),
          'goniec.run_id': runId,
          'goniec.outcome': outcome,
        };
        recordEnded(`workflow ${workflowType}`, seconds, attributes, { parent: carriedContext(headers) });
      },
    },
  },
};

function carriedContext(headers: Headers): Context {
  return contextOf(carriedBy<Carrier>(TRACE_HEADER, headers) ?? {});
}

function aboutWorkflow(workflowId: string): Attributes {
  return { 'goniec.workflow_id': workflowId, ...idAttributes(idsAmong([workflowId])) };
}
