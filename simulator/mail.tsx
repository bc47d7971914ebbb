import type { VNode } from 'preact';
import { readReceivedEmails, type ReceivedEmail } from '../db/routes/simulatorInbox.ts';
import type { Database } from '../db/connection.ts';
import { BODY_MAX as HTML_MAX, emailAddress } from '../domain/email/address.ts';
import { isId } from '../domain/ids.ts';
import { StaffRefused } from '../domain/refusals.ts';
import { EMAIL_REACTIONS, type EmailReaction, reactToEmail } from '../operations/support/simulator.ts';
import {
  asking,
  beforeOf,
  BODY_MAX,
  emailPath,
  framed,
  Linked,
  mailboxPath,
  Older,
  PAGE_ENTRIES,
  PREVIEW_MAX,
  problem,
  seeOther,
  Time,
  simulatorPage,
} from './frame.tsx';

/** /simulator/mailbox: what arrived at an address. */
export const mailboxPage = simulatorPage('/simulator/mailbox', {
  async get({ services: { sql } }, query) {
    const address = emailAddress((query.get('address') ?? '').trim());
    if (address === null) return problem(400, 'An address such as jan@klient.example is needed.');
    const page = { limit: PAGE_ENTRIES, before: beforeOf(query), bodyMax: PREVIEW_MAX };
    const emails = await readReceivedEmails(sql, { address }, page);
    return framed(
      address,
      <section class="mailbox">
        <h1>{address}</h1>
        {emails.length === 0 ? <p class="none">No e-mail has arrived yet.</p> : null}
        <ul class="list">
          {emails.map((email) => (
            <EmailRow email={email} />
          ))}
        </ul>
        <Older entries={emails} path={mailboxPath(address)} />
      </section>,
    );
  },
});

export function EmailRow({ email }: { email: ReceivedEmail }): VNode {
  const { id, from, to, subject, text, receivedAt } = email;
  return (
    <li>
      <a href={emailPath(id)}>
        <span class="who">{from.name ?? from.address}</span> <Time at={receivedAt} />
        <span class="what">
          <strong>{subject}</strong> {text}
        </span>
        <span class="to">to {to.join(', ')}</span>
      </a>
    </li>
  );
}

/** /simulator/email: an e-mail; its recipients open it, click, complain, or their server returns it. */
export const emailPage = simulatorPage('/simulator/email', {
  async get({ services: { sql } }, query) {
    const email = await emailOf(sql, query.get('id'), BODY_MAX);
    if (email === undefined) return unknownEmail();
    return framed(email.subject, <Email email={email} />);
  },
  async post(visit, form) {
    const [id, address, reaction] = ['id', 'address', 'reaction'].map((name) => form.get(name) ?? '');
    if (!isId('em', id!) || !isReaction(reaction!)) return unknownEmail();
    try {
      await reactToEmail({ ...asking(visit), input: { id: id!, address: address!, reaction } });
    } catch (error) {
      if (error instanceof StaffRefused) return unknownEmail();
      throw error;
    }
    return seeOther(emailPath(id!));
  },
});

/** /simulator/email/html: the HTML of an e-mail, in a document that runs, loads and sends nothing. Its links can be clicked. */
export const emailHtmlPage = simulatorPage('/simulator/email/html', {
  async get({ services: { sql } }, query) {
    const html = (await emailOf(sql, query.get('id'), HTML_MAX))?.html ?? null;
    if (html === null) return unknownEmail();
    const policy =
      "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
    const headers = { 'Content-Type': 'text/html; charset=utf-8', 'Content-Security-Policy': policy };
    return { status: 200, headers, body: html };
  },
});

async function emailOf(
  sql: Database,
  id: string | null,
  bodyMax: number,
): Promise<ReceivedEmail | undefined> {
  if (id === null || !isId('em', id)) return undefined;
  const [email] = await readReceivedEmails(sql, { id }, { limit: 1, bodyMax });
  return email;
}

function unknownEmail() {
  return problem(404, 'There is no such e-mail; after seven days they are deleted.');
}

function isReaction(word: string): word is EmailReaction {
  return Object.hasOwn(EMAIL_REACTIONS, word);
}

const REACTION_NAMES: Readonly<Record<EmailReaction, string>> = {
  opened: 'Open',
  clicked: 'Click',
  bounced: 'Bounce',
  'soft-bounced': 'Bounce for now',
  complained: 'Report as spam',
};

function Email({ email }: { email: ReceivedEmail }): VNode {
  const { id, from, to, subject, text, html, files, recipients, receivedAt } = email;
  return (
    <article class="email">
      <h1>{subject}</h1>
      <p class="meta">
        <strong>{from.name === null ? from.address : `${from.name} <${from.address}>`}</strong>{' '}
        <Time at={receivedAt} />
      </p>
      <p class="meta">to {to.join(', ')}</p>
      {text === null ? null : (
        <p class="letter" dir="auto">
          <Linked text={text} />
        </p>
      )}
      {html === null ? null : (
        <p>
          <a class="button" href={`/simulator/email/html?id=${id}`} target="_blank" rel="noopener">
            Show the HTML
          </a>
        </p>
      )}
      {files.length === 0 ? null : <p class="meta">Attached: {files.join(', ')}</p>}
      <h2>Recipients</h2>
      {recipients.map(({ address, state }) => (
        <form class="recipient" method="post" aria-label={address}>
          <input type="hidden" name="id" value={id} />
          <input type="hidden" name="address" value={address} />
          <p>
            <a href={mailboxPath(address)}>{address}</a> <span class="badge">{state}</span>
          </p>
          <p class="buttons">
            {Object.entries(REACTION_NAMES).map(([reaction, name]) => (
              <button class="small" name="reaction" value={reaction}>
                {name}
              </button>
            ))}
          </p>
        </form>
      ))}
    </article>
  );
}
