import { addSimulatedEmailEvent, switchPhoneOff, switchPhoneOn } from '../../db/routes/simulatorInbox.ts';
import { addSimulatedReply } from '../../db/routes/simulator.ts';
import { storable } from '../../domain/ids.ts';
import { maskMsisdn } from '../../domain/msisdn.ts';
import { StaffRefused } from '../../domain/refusals.ts';
import type { Routing } from '../../domain/routing.ts';
import { recorded } from '../staff.ts';

// The longest concatenated SMS: 255 parts of 153 characters.
const TEXT_MAX = 39_015;

interface Input {
  from: string;
  /** The receiving number, E.164; null if the simulated SMSC omits it. */
  to: string | null;
  text: string;
}

/** Sends an SMS from a phone in the simulated network. @throws StaffRefused reply_too_long */
export const simulateReply = recorded('simulator reply', async (sql, reply: Input) => {
  if (reply.text.length > TEXT_MAX) throw new StaffRefused({ reason: 'reply_too_long', limit: TEXT_MAX });
  await addSimulatedReply(sql, { ...reply, text: storable(reply.text) });
  const to = reply.to === null ? null : maskMsisdn(reply.to);
  return { data: undefined, subject: maskMsisdn(reply.from), details: { to } };
});

/** Switches a phone of the simulated network on or off; what is sent to one that is off comes back undelivered. */
export const switchPhone = recorded(
  'simulator switch',
  async (sql, { msisdn, on }: { msisdn: string; on: boolean }) => {
    await (on ? switchPhoneOn : switchPhoneOff)(sql, msisdn);
    return { data: undefined, subject: maskMsisdn(msisdn), details: { on } };
  },
);

/** What can happen to an e-mail in a mailbox of the simulated network, as the event that reports it. */
export const EMAIL_REACTIONS = {
  opened: { kind: 'opened', permanent: null },
  clicked: { kind: 'clicked', permanent: null },
  bounced: { kind: 'bounced', permanent: true },
  'soft-bounced': { kind: 'bounced', permanent: false },
  complained: { kind: 'complained', permanent: null },
} as const;
export type EmailReaction = keyof typeof EMAIL_REACTIONS;

/** Reports a reaction to a simulated e-mail as its provider would. @throws StaffRefused email_missing */
export const reactToEmail = recorded(
  'simulator email',
  async (sql, { id, address, reaction }: { id: string; address: string; reaction: EmailReaction }) => {
    const known = await addSimulatedEmailEvent(sql, { id, address, ...EMAIL_REACTIONS[reaction] });
    if (!known) throw new StaffRefused({ reason: 'email_missing', email: id });
    return { data: undefined, subject: id, details: { reaction } };
  },
);

/** Whether there is a simulated network, with its phones and mailboxes. */
export function hasSimulatedNetwork({ routes }: Routing): boolean {
  return routes.some(({ simulated, state }) => simulated && state !== 'disabled');
}
