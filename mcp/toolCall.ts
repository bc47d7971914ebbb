import type { Answer } from '../api/http/endpoint.ts';
import { invoke } from '../api/http/invoke.ts';
import type { Services } from '../api/services.ts';
import type { Refusal } from '../domain/refusals.ts';
import type { KeyCaller } from '../operations/context.ts';
import type { IdempotencyKey } from '../operations/sending/idempotency.ts';
import type { SendSize } from '../operations/quotas.ts';
import type { EndpointCall } from './tool.ts';

export interface ToolCall {
  services: Services;
  requestId: string;
  caller: KeyCaller;
  /** Rate limit, too many at once, or account suspended or closed; null if the call is allowed. */
  refusal: Refusal | null;
  acquireHeavySlot: () => void;
  confirmAbove: SendSize;
  /** Aborted when the client has cancelled or disconnected. */
  signal: AbortSignal;
  /** Whether the client supports elicitation. */
  canAsk: boolean;
  /** The user's answers to elicitations of this call, and what they were asked about. */
  answers: Record<string, unknown> | undefined;
  requestState: string | undefined;
}

/** Calls an endpoint. @throws Refused, HttpRefused, and any error of the handler */
export async function callEndpoint(
  { endpoint, params, query, body }: EndpointCall,
  { services, caller, requestId, acquireHeavySlot }: ToolCall,
  idempotencyKeys: readonly IdempotencyKey[],
): Promise<Answer> {
  const answer = await invoke(endpoint, services, caller, {
    params,
    body,
    requestId,
    acquireHeavySlot,
    csv: false,
    receivedAt: Date.now(),
    query: () => query,
    idempotencyKeys: () => idempotencyKeys,
  });
  if ('csv' in answer) throw new Error('a tool asks for no table');
  return answer;
}
