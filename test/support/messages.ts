import type { Database } from '../../db/connection.ts';

/** What matters about a message to a test that writes it to a database without a service. */
export interface WrittenMessage {
  id: string;
  status: string;
  submission: string;
  route: string;
  recipient?: string;
  parts?: number;
}

/** Writes a message of the account `cl_a`, as it stands after its request. */
export async function writeMessage(
  sql: Database,
  { id, status, submission, route, recipient = '+48500100100', parts = 1 }: WrittenMessage,
): Promise<void> {
  await sql`
    insert into messages (id, account_id, request_id, status, accepted_as, recipient, text, parts, cost_grosze,
                          give_up_at, route, submission)
    values (${id}, 'cl_a', ${`req_${id}`}, ${status}, 'queued', ${recipient}, 'x', ${parts}, 15,
            now() + interval '3 days', ${route}, ${submission})`;
}
