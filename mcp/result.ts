import type { CallToolResult } from '@modelcontextprotocol/server';
import type { ErrorAnswer } from '../api/http/refusals.ts';
import { problemText } from '../api/http/texts.ts';
import type { SendSize } from '../operations/quotas.ts';
import { inEnglish } from '../api/http/english.ts';
import { nextStep } from './english.ts';
import { type Body, bounded, presented } from './present.ts';
import type { Tool } from './tool.ts';

/** A result, as `structuredContent` and as the same in text. @param first what is said before everything else */
export function success(body: object, first: Body = {}): CallToolResult {
  const structuredContent = bounded(presented(body, first));
  return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent };
}

/** The result of a call that did nothing: what the endpoint answered, as an error. */
export function nothingDone(body: object, notice: string): CallToolResult {
  return { isError: true, ...success(body, { notice }) };
}

/** An error result: code and message of the REST interface, the same in English, and the next step. */
export function failure(error: ErrorAnswer, tool: Tool, requestId: string): CallToolResult {
  const { code, param, problem } = error;
  return failed({
    next: nextStep(error, tool),
    error: {
      code,
      message: problemText(problem),
      message_en: inEnglish(problem),
      ...(param === null ? {} : { param }),
    },
    request_id: requestId,
  });
}

/** Error result of a send that the user has to confirm. @param stale `confirm` was given, and belongs to something else */
export function confirmationNeeded(
  { size, question, token }: { size: SendSize; question: string; token: string },
  reasons: readonly string[],
  stale: boolean,
  requestId: string,
): CallToolResult {
  const why = stale ? 'Nothing was sent: `confirm` is not of this send as it is now.' : 'Nothing was sent.';
  return failed({
    notice: [why, ...reasons, question].join(' '),
    next: 'Show this to the user. Only if they agree, call again with the same arguments and with `confirm`.',
    confirm: token,
    recipients: size.recipients,
    total_cost_grosze: size.costGrosze,
    error: {
      code: 'confirmation_needed',
      message: 'Wysyłka wymaga potwierdzenia.',
      message_en: 'The send has to be confirmed by the user.',
      param: 'confirm',
    },
    request_id: requestId,
  });
}

/** Of a dry run: what the send will need. */
export function needsConfirmation(canAsk: boolean): string {
  return canAsk
    ? 'The user will be asked before it is sent.'
    : 'It needs the agreement of the user: show them this, then call with `confirm` as below.';
}

/** Error result of what the user declined. */
export function declined(done: 'sent' | 'deleted', requestId: string): CallToolResult {
  return failed({
    notice: `Nothing was ${done}: the user was asked and did not agree.`,
    next: 'This is final. Do not call again, in parts or otherwise, unless the user asks for it.',
    error: {
      code: 'declined',
      message: 'Użytkownik nie wyraził zgody.',
      message_en: 'The user did not agree.',
    },
    request_id: requestId,
  });
}

function failed(body: Body): CallToolResult {
  return { isError: true, ...success(body) };
}
