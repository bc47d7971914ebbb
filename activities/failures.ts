import { ApplicationFailure } from '@temporalio/activity';
import { FAILURE } from '../workflows/contracts.ts';

/**
 * The database has no accepted message of this id, nor will it have one: it was restored from a backup of before the
 * message.
 */
export function unknownMessage(messageId: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(`no accepted message ${messageId}`, FAILURE.unknownMessage);
}
