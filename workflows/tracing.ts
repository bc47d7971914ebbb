import type { Headers } from '@temporalio/common';
import { proxySinks, type Sinks, workflowInfo, type WorkflowInterceptorsFactory } from '@temporalio/workflow';
import { carriedTrace, traceHeader } from './traceHeader.ts';

/** A step of a workflow, reported to the worker, which makes a span without a duration of it. */
export interface WorkflowStep {
  name: string;
  /** Its `traceparent`; null leaves the choice of the span's own id to the worker. */
  self: string | null;
  parent: string | null;
  link: string | null;
  /** Epoch milliseconds. */
  at: number;
  /** How a workflow ended. */
  outcome?: string;
}

/** What the worker listens to. Replays report nothing. */
export interface TraceSinks extends Sinks {
  trace: { step(step: WorkflowStep): void };
}

// A workflow that rests longer than this goes on in another trace, linked to the one before.
const REST_MS = 600_000;

const { trace } = proxySinks<TraceSinks>();

/**
 * Hands the trace of whoever started a workflow on to its activities. It schedules nothing, draws no random numbers and
 * waits for nothing, so that a history replays the same with and without it.
 */
export const interceptors: WorkflowInterceptorsFactory = () => {
  const own = createSegments();

  function withTrace<T extends { readonly headers: Headers }>(input: T): T {
    const parent = own.step();
    if (parent === null) return input;
    return { ...input, headers: { ...input.headers, ...traceHeader({ parent }) } };
  }

  return {
    inbound: [
      {
        execute(input, next) {
          own.begin(input.headers);
          const running = next(input);
          // Beside the workflow's own promise, whose course stays as it is.
          running.then(
            (result) => own.note(`${workflowInfo().workflowType} ended`, outcomeOf(result)),
            () => own.note(`${workflowInfo().workflowType} ended`, 'failed'),
          );
          return running;
        },
        handleSignal(input, next) {
          own.note(`signal ${input.signalName}`);
          return next(input);
        },
        handleUpdate(input, next) {
          own.note(`update ${input.name}`);
          return next(input);
        },
      },
    ],
    outbound: [
      {
        scheduleActivity: (input, next) => next(withTrace(input)),
        scheduleLocalActivity: (input, next) => next(withTrace(input)),
      },
    ],
  };
};

/** The spans of one workflow's run: one for it, and after a rest another, in a trace of its own. */
interface Segments {
  /** Goes on with the trace that whoever started the workflow handed over, if any. */
  begin(headers: Headers): void;
  /**
   * Called wherever the workflow does something.
   * @returns the `traceparent` of what it does; null where nothing is traced
   */
  step(): string | null;
  /** Reports something that took no time. */
  note(name: string, outcome?: string): void;
}

function createSegments(): Segments {
  let segment: string | null = null;
  let lastAt = 0;

  function open(parent: string | null, link: string | null): void {
    const { runId, workflowType } = workflowInfo();
    lastAt = Date.now();
    const [, traceId, , flags] = (parent ?? link)!.split('-');
    segment = `00-${parent === null ? newTraceId(runId, lastAt) : traceId}-${digits(runId).slice(-16)}-${flags}`;
    report({ name: `workflow ${workflowType}`, self: segment, parent, link, at: lastAt });
  }

  function step(): string | null {
    if (segment !== null && Date.now() - lastAt > REST_MS) open(null, segment);
    lastAt = Date.now();
    return segment;
  }

  return {
    begin(headers) {
      const carried = carriedTrace(headers);
      if (carried === undefined || !isTraceparent(carried.parent)) return;
      open(carried.apart === true ? null : carried.parent, carried.apart === true ? carried.parent : null);
    },
    step,
    note(name, outcome) {
      const parent = step();
      if (parent === null) return;
      const ended = outcome === undefined ? {} : { outcome };
      report({ name, self: null, parent, link: null, at: lastAt, ...ended });
    },
  };
}

function report(step: WorkflowStep): void {
  // Not sampled: nobody is to hear of it.
  if ((step.self ?? step.parent)!.endsWith('-00')) return;
  trace.step(step);
}

function outcomeOf(result: unknown): string {
  const status = (result as { status?: unknown } | undefined)?.status;
  return typeof status === 'string' ? status : 'completed';
}

function isTraceparent(value: unknown): boolean {
  return typeof value === 'string' && /^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$/.test(value);
}

// Derived, not drawn: the workflow's own random numbers stay as they are without traces.
function newTraceId(runId: string, at: number): string {
  return at.toString(16).padStart(12, '0').slice(-12) + digits(runId).slice(-20);
}

function digits(runId: string): string {
  return runId.replaceAll('-', '').padStart(32, '0');
}
