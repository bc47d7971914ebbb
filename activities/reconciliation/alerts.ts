import { log } from '@temporalio/activity';
import type { Database } from '../../db/connection.ts';
import { addAlert } from '../../db/emails/ownEmails.ts';

/** Has staff e-mailed about open findings that they were not told of. A run does not fail for it: the next one makes up for it. */
export async function alertStaff(sql: Database): Promise<void> {
  try {
    await addAlert(sql);
  } catch (error) {
    log.warn('reconciliation: staff could not be e-mailed', { error });
  }
}
