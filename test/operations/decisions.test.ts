import { WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { expect, it } from 'vitest';
import { StaffRefused } from '../../domain/refusals.ts';
import { concernsOneMessage } from '../../operations/support/decisions.ts';

it('what a workflow answers concerns its message alone; that nobody answers, all of a bulk', () => {
  const refusal = { reason: 'decision_not_carried_out', fault: 'x' } as const;
  const answered = new WorkflowUpdateFailedError('failed', ApplicationFailure.nonRetryable('no refund'));
  expect(concernsOneMessage(new StaffRefused(refusal, undefined, answered))).toBe(true);
  expect(concernsOneMessage(new StaffRefused(refusal, undefined, new Error('ECONNREFUSED')))).toBe(false);
});
