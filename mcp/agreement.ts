import {
  acceptedContent,
  type CallToolResult,
  inputRequired,
  type InputRequiredResult,
} from '@modelcontextprotocol/server';
import type { SendSize } from '../operations/quotas.ts';
import type { ToolCall } from './toolCall.ts';
import { confirmationNeeded, declined } from './result.ts';

export type Result = CallToolResult | InputRequiredResult;

/** What the user is to agree to. */
export interface Asked {
  size: SendSize;
  /** In English. */
  question: string;
  /** Stands for exactly this; valid for an hour. */
  token: string;
  isToken: (given: string) => boolean;
}

/**
 * Has the user agree: asks where the client can, whatever `confirm` says, else wants the token of what was shown.
 * @returns what the call is answered with; null once the user has agreed
 */
export function agreement(
  asked: Asked,
  reasons: readonly string[],
  confirm: string | undefined,
  call: ToolCall,
): Result | null {
  if (!call.canAsk) {
    if (confirm !== undefined && asked.isToken(confirm)) return null;
    return confirmationNeeded(asked, reasons, confirm !== undefined, call.requestId);
  }
  // An answer belongs to what was asked: if that has changed since, the user is asked again.
  const { answers, requestState } = call;
  if (answers === undefined || requestState === undefined || !asked.isToken(requestState))
    return ask([asked.question, ...reasons].join(' '), 'Send it', asked.token);
  return hasAgreed(call) ? null : declined('sent', call.requestId);
}

/** Has the user agree to a deletion, where the client can ask: of one item, so that others may go ahead. */
export function agreementToDelete(question: string, call: ToolCall): Result | null {
  if (!call.canAsk || hasAgreed(call)) return null;
  return call.answers === undefined ? ask(question, 'Yes') : declined('deleted', call.requestId);
}

const hasAgreed = ({ answers }: ToolCall): boolean =>
  acceptedContent(answers, 'confirm')?.['confirm'] === true;

function ask(message: string, title: string, requestState?: string): InputRequiredResult {
  const confirm = inputRequired.elicit({
    message,
    requestedSchema: {
      type: 'object',
      properties: { confirm: { type: 'boolean', title, default: false } },
      required: ['confirm'],
    },
  });
  return inputRequired({
    inputRequests: { confirm },
    ...(requestState === undefined ? {} : { requestState }),
  });
}
