import { lockNames, type Sql } from '../connection.ts';

/** E-mails to an address in an hour, and by an asker in a day. */
const E_MAILS = { address: 5, asker: 20 } as const;

/** What has had too many e-mails, and for how many seconds more. */
export interface EmailLimit {
  limited: keyof typeof E_MAILS;
  seconds: number;
}

/** An e-mail that somebody makes the service send. */
export interface RequestedEmail {
  address: string;
  /** A network, as made by `limitedNetwork`, or an account. The caller has locked it. */
  asker: string;
}

/** Counts an e-mail unless address or asker have had too many; exact under concurrency. @returns null if it may be sent */
export async function countEmail(tx: Sql, { address, asker }: RequestedEmail): Promise<EmailLimit | null> {
  await lockNames(tx, [`e-mails to ${address}`]);
  const [limit] = await tx<EmailLimit[]>`
    with reached as (
      (select 'address' as limited, at + interval '1 hour' as until from requested_emails
        where address = ${address} and at > now() - interval '1 hour' order by at desc offset ${E_MAILS.address - 1} limit 1)
       union all
      (select 'asker', at + interval '1 day' from requested_emails
        where asker = ${asker} and at > now() - interval '1 day' order by at desc offset ${E_MAILS.asker - 1} limit 1)
    )
    select limited, ceil(extract(epoch from until - now()))::int as seconds from reached order by until desc limit 1`;
  if (limit !== undefined) return limit;
  await tx`insert into requested_emails (address, asker) values (${address}, ${asker})`;
  return null;
}
