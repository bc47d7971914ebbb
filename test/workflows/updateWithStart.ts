import {
  type Client,
  isGrpcServiceError,
  ServiceError,
  type WithStartWorkflowOperation,
} from '@temporalio/client';
import type { UpdateDefinition, Workflow } from '@temporalio/common';

const UNKNOWN: readonly number[] = [2];

/**
 * As the client's `executeUpdateWithStart`. The SDK repeats that call where no answer came within ten seconds, on a machine that stands still,
 * say; the time-skipping server then knows the start, looks for no update of it, and breaks. The update goes its way all the same.
 */
export async function updateWithStart<Answer, Start extends Workflow>(
  { workflow }: Client,
  update: UpdateDefinition<Answer>,
  asked: { startWorkflowOperation: WithStartWorkflowOperation<Start>; updateId: string },
): Promise<Answer> {
  try {
    return await workflow.executeUpdateWithStart(update, asked);
  } catch (error) {
    const broke =
      error instanceof ServiceError && isGrpcServiceError(error.cause) && UNKNOWN.includes(error.cause.code);
    if (!broke) throw error;
    const { workflowId } = asked.startWorkflowOperation.options;
    return await workflow.getHandle(workflowId).getUpdateHandle<Answer>(asked.updateId).result();
  }
}
