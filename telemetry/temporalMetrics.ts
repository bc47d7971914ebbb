import { type WorkflowClientInterceptor, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { histogram } from './metrics.ts';

const OPERATIONS = ['start', 'update', 'update_with_start', 'signal', 'query', 'describe', 'cancel'] as const;

const calls = histogram(
  'goniec_temporal_call_duration_seconds',
  'Calls of Temporal about workflows: what was asked for, and whether it came to an answer (ok) or not (error). Waiting for a charge and the workflow task that it is made in is part of an update.',
  ['operation', 'outcome'],
);
// Closed lists: every series begins at 0.
for (const operation of OPERATIONS) for (const outcome of ['ok', 'error']) calls.zero({ operation, outcome });

export function temporalCallMetrics(): WorkflowClientInterceptor {
  return {
    startWithDetails: (input, next) => measured('start', next(input)),
    startUpdate: (input, next) => measured('update', next(input)),
    startUpdateWithStart: (input, next) => measured('update_with_start', next(input)),
    signal: (input, next) => measured('signal', next(input)),
    query: (input, next) => measured('query', next(input)),
    describe: (input, next) => measured('describe', next(input)),
    cancel: (input, next) => measured('cancel', next(input)),
  };
}

async function measured<T>(operation: (typeof OPERATIONS)[number], call: Promise<T>): Promise<T> {
  const end = calls.startTimer({ operation });
  try {
    const answer = await call;
    end({ outcome: 'ok' });
    return answer;
  } catch (error) {
    // "Already started" is an answer.
    end({ outcome: error instanceof WorkflowExecutionAlreadyStartedError ? 'ok' : 'error' });
    throw error;
  }
}
