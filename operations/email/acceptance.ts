import { chargeEmail } from '../../db/emails/charge.ts';
import type { EmailDraft } from '../../db/emails/drafts.ts';
import { acceptUpdate } from '../../workflows/contracts.ts';
import { emailStart } from '../../workflows/startOptions.ts';
import type { Services } from '../asked.ts';
import { askWorkflow } from '../askWorkflow.ts';
import { decideRequest, type Decision } from '../sending/decision.ts';

/** What stands behind the sending of an e-mail. */
export type EmailServices = Pick<Services, 'sql' | 'temporal' | 'routing' | 'secretsKey' | 'log'>;

/**
 * Starts the workflow of an e-mail and waits for its charge. When that fails or takes too long the e-mail is ended in the database, so that
 * the answer is certain: accepted after all, or never sent.
 *
 * @param receivedAt when the request came, epoch milliseconds
 * @throws Refused: nothing will be sent, or (the database is gone too) nobody knows
 */
export async function decideEmail(
  services: EmailServices,
  draft: EmailDraft,
  receivedAt: number,
): Promise<Decision> {
  const { id, accountId, requestId, route, giveUpAt, recipients } = draft;
  // Where everybody is on the suppression list nothing has to happen any more, so there is no workflow to do it.
  const nobody = recipients.every(({ suppressed }) => suppressed);
  return await decideRequest(services, requestId, receivedAt, async (until) => {
    if (nobody) return await chargeEmail(services.sql, requestId);
    const start = emailStart({ id, accountId, requestId, route, giveUpAt: giveUpAt.getTime() }, false);
    const question = { workflow: 'email', start, update: acceptUpdate, updateId: requestId };
    return await askWorkflow(services.temporal, question, until);
  });
}
