import { Connection, isGrpcServiceError } from '@temporalio/client';
import type { BackendState } from './balancer.ts';

const SERVICE = 'temporal.api.workflowservice.v1.WorkflowService';
const SERVING = 1;
const ANSWER_MS = 2_000;
const GRPC_DEADLINE_EXCEEDED = 4;

/**
 * Asks a Temporal frontend whether it takes calls (grpc.health.v1): not while it starts, nor from the moment on at which
 * it was asked to stop.
 * @param address host:port
 */
export async function frontendServes(address: string): Promise<BackendState> {
  // Without interceptors: the usual ones repeat a refused call until its time is over.
  const connection = Connection.lazy({ address, interceptors: [] });
  try {
    const { status } = await connection.withDeadline(Date.now() + ANSWER_MS, () =>
      connection.healthService.check({ service: SERVICE }),
    );
    return Number(status) === SERVING ? 'serves' : 'refuses';
  } catch (error) {
    return isGrpcServiceError(error) && Number(error.code) === GRPC_DEADLINE_EXCEEDED ? 'silent' : 'refuses';
  } finally {
    await connection.close();
  }
}
