import { type EmailHead, readEmailHead, readEmailTimeline } from '../../db/emails/reads.ts';
import { ERASED_ADDRESS, maskAddress } from '../../domain/email/address.ts';
import { shownState } from '../../domain/email/statuses.ts';
import { StaffRefused } from '../../domain/refusals.ts';
import { type ActRecord, recordedAfter } from '../staff.ts';
import { codeInWords, type Followed, followed, type Sources } from './messageView.ts';
import { actsOfEmail } from './possibleActs.ts';
import { readWorkflow } from './workflow.ts';

type Email = ReturnType<typeof shownEmail>;
export type EmailView = Email & Followed & { reason: string | null };

interface EmailInput {
  id: string;
  /** With them in full, and what webhooks were answered. */
  addresses: boolean;
}

/** As `viewMessage`, of an e-mail; never its subject or contents. @throws StaffRefused email_missing */
export async function viewEmail(
  { sql, temporal }: Sources,
  { id, addresses }: EmailInput,
): Promise<ActRecord & { data: EmailView }> {
  const head = await readEmailHead(sql, id);
  if (head === null) throw new StaffRefused({ reason: 'email_missing', email: id });
  const workflow = await readWorkflow(temporal, id);
  const way = await followed(sql, await readEmailTimeline(sql, head), workflow, addresses);
  const data = {
    ...shownEmail(head, addresses),
    reason: await codeInWords(sql, head.route, head.errorCode),
    ...way,
    // They have the subject.
    deliveries: way.deliveries.map(({ body: _, ...delivery }) => delivery),
    acts: await actsOfEmail(sql, head, way.deliveries),
  };
  return { data, account: head.accountId, subject: id, details: addresses ? { addresses: true } : {} };
}

/** The same for the console, with its audit record. */
export const showEmail = recordedAfter('emails show', viewEmail);

function shownEmail(
  { errorCode, providerEmailId, erasedAt, waits: _, recipients, ...head }: EmailHead,
  addresses: boolean,
) {
  return {
    ...head,
    error: errorCode,
    providerId: providerEmailId,
    ...(erasedAt === null ? {} : { erasedAt }),
    recipients: recipients.map(({ kind, address, state }) => ({
      kind,
      address: addresses ? address : masked(address),
      state: shownState(head.status, state),
    })),
  };
}

function masked(address: string): string {
  return address === ERASED_ADDRESS ? address : maskAddress(address);
}
