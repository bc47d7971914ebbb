import { lockNames, type Sql } from '../connection.ts';
import { countDailyUse, lockDailyUse, secondsOfToday } from '../dailyUse.ts';

/** E-mails of a kind to an address in an hour, and by an asker in a day. */
const E_MAILS = { address: 5, asker: 20 } as const;

/** What has had too many e-mails (`day`: all together), and for how many seconds more. */
export interface EmailLimit {
  limited: keyof typeof E_MAILS | 'day';
  seconds: number;
}

/** E-mails of the installation on a Polish day: to anybody, and after those only for people. */
export interface EmailBudget {
  toAnybody: number;
  toAll: number;
}

/** An e-mail that somebody makes the service send. */
export interface RequestedEmail {
  kind: 'sign_in' | 'invitation' | 'address_change' | 'factors';
  address: string;
  /** A network, as made by `limitedNetwork`, an account or a person. The caller has locked it. */
  asker: string;
  /** A person asks for it, or gets it. */
  forPerson: boolean;
}

/** A counted e-mail. */
export interface CountedEmail {
  /** Addresses of nobody get no e-mail today. Whether this is one must not show. */
  peopleOnly: boolean;
  /** Whether the e-mail is to be sent. */
  isSent: boolean;
}

/** Counts an e-mail unless address, asker or the day have had too many; exact under concurrency. Call it last, as all wait for the day. */
export async function countEmail(
  tx: Sql,
  { kind, address, asker, forPerson }: RequestedEmail,
  { toAnybody, toAll }: EmailBudget,
): Promise<CountedEmail | EmailLimit> {
  await lockNames(tx, [`e-mails to ${address}`]);
  const [limit] = await tx<EmailLimit[]>`
    with reached as (
      (select 'address' as limited, at + interval '1 hour' as until from requested_emails
        where address = ${address} and kind = ${kind} and at > now() - interval '1 hour'
        order by at desc offset ${E_MAILS.address - 1} limit 1)
       union all
      (select 'asker', at + interval '1 day' from requested_emails
        where asker = ${asker} and at > now() - interval '1 day' order by at desc offset ${E_MAILS.asker - 1} limit 1)
    )
    select limited, ceil(extract(epoch from until - now()))::int as seconds from reached order by until desc limit 1`;
  if (limit !== undefined) return limit;
  const used = await lockDailyUse(tx, 'sign_in_emails');
  if (used >= toAll) return { limited: 'day', seconds: secondsOfToday() };
  // The rest of the day is for signing in, unless there are no sign-ups at all.
  const isReserved = toAnybody > 0 && used >= toAnybody && kind !== 'sign_in' && kind !== 'factors';
  if (isReserved) return { limited: 'day', seconds: secondsOfToday() };
  const peopleOnly = used >= toAnybody;
  const isSent = forPerson || !peopleOnly;
  await countDailyUse(tx, 'sign_in_emails', [toAnybody, toAll], isSent ? 1 : 0);
  await tx`insert into requested_emails (kind, address, asker) values (${kind}, ${address}, ${asker})`;
  return { peopleOnly, isSent };
}
