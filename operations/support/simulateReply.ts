import { addSimulatedReply } from '../../db/routes/simulator.ts';
import { maskMsisdn } from '../../domain/msisdn.ts';
import { StaffRefused } from '../../domain/refusals.ts';
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
  await addSimulatedReply(sql, reply);
  const to = reply.to === null ? null : maskMsisdn(reply.to);
  return { data: undefined, subject: maskMsisdn(reply.from), details: { to } };
});
