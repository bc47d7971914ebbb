import type { Database } from '../../db/connection.ts';
import type { NewEmail } from '../../db/emails/accept.ts';
import { newId } from '../../db/ids.ts';
import type { NewMessage } from '../../db/messages/accept.ts';

/** What matters about a message to a test that writes it to a database without a service. */
interface WrittenMessage {
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

/** A message as it is accepted: a queued SMS of one part that costs nothing, unless told. */
export function newMessage(
  wish: Pick<NewMessage, 'accountId' | 'requestId'> & Partial<NewMessage>,
): NewMessage {
  const now = new Date();
  return {
    ...{
      id: newId('msg'),
      batched: true,
      channel: 'sms',
      status: 'queued',
      recipient: '+48500100200',
      country: 'PL',
    },
    ...{ sender: 'SKLEP', text: 'x', content: null, parts: 1, cut: 'gsm7', links: [], optOutToken: null },
    ...{ costGrosze: 0, testCredits: 0, priority: false, reference: null, interface: 'v2', idx: null },
    ...{ sendAt: null, expiresAt: null, giveUpAt: new Date(now.getTime() + 259_200_000), route: 'r' },
    ...{ deliveredAt: null, errorCode: null, createdAt: now, updatedAt: now },
    ...wish,
  };
}

/** An e-mail as it is accepted: to one address, for nothing, unless told. */
export function newEmail(wish: Pick<NewEmail, 'accountId' | 'requestId'> & Partial<NewEmail>): NewEmail {
  const now = Date.now();
  return {
    ...{
      id: newId('em'),
      interface: 'v1',
      route: 'r',
      domain: 'sklep.example',
      fromAddress: 'a@sklep.example',
    },
    ...{ fromName: null, replyTo: null, subject: 's', headers: [], idx: null, unsubscribeToken: null },
    ...{ costGrosze: 0, testCredits: 0, html: null, text: 't', sealed: null, attachments: [] },
    ...{ recipients: [{ kind: 'to', address: 'jan@klient.example', suppressed: false }] },
    ...{ createdAt: new Date(now), giveUpAt: new Date(now + 259_200_000) },
    ...wish,
  };
}
