import { ApplicationFailure } from '@temporalio/activity';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { FAILURE } from '../workflows/contracts.ts';

/**
 * Refuses for good what no database can look for: an id with a NUL, as nothing here makes them. PostgreSQL would refuse it
 * every time, and the activity be tried for ever.
 */
export const usableArguments: ActivityInterceptorsFactory = () => ({
  inbound: {
    execute(input, next) {
      if (input.args.some((arg) => typeof arg === 'string' && arg.includes('\0'))) {
        throw ApplicationFailure.nonRetryable('an argument with a NUL character', FAILURE.unusableArgument);
      }
      return next(input);
    },
  },
});
