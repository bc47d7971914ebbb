import type { VNode } from 'preact';
import {
  readReceivedEmails,
  readReceivedMessages,
  type ReceivedMessage,
} from '../db/routes/simulatorInbox.ts';
import { framed, phonePath, PREVIEW_MAX, spaced, Time, simulatorPage } from './frame.tsx';
import { EmailRow } from './mail.tsx';

const RECENT = 15;

/** /simulator: what arrived last, and the way to each phone and mailbox. */
export const overviewPage = simulatorPage('/simulator', {
  async get({ services: { sql } }) {
    const page = { limit: RECENT, bodyMax: PREVIEW_MAX };
    const [messages, emails] = await Promise.all([
      readReceivedMessages(sql, null, page),
      readReceivedEmails(sql, null, page),
    ]);
    return framed(
      'Simulator',
      <>
        <h1 class="visually-hidden">Simulator</h1>
        <p>
          <a href="/simulator/payments">Payments</a>
        </p>
        <div class="columns">
          <section>
            <h2>Phones</h2>
            <form class="open" action="/simulator/phone">
              <label for="number">Number</label>
              <input id="number" name="number" type="tel" required placeholder="+48 500 100 200" />
              <button>Open</button>
            </form>
            {messages.length === 0 ? <p class="none">No phone has received anything yet.</p> : null}
            <ul class="list">
              {messages.map((message) => (
                <MessageRow message={message} />
              ))}
            </ul>
          </section>
          <section>
            <h2>Mailboxes</h2>
            <form class="open" action="/simulator/mailbox">
              <label for="address">Address</label>
              <input id="address" name="address" type="email" required placeholder="jan@klient.example" />
              <button>Open</button>
            </form>
            {emails.length === 0 ? <p class="none">No e-mail has arrived yet.</p> : null}
            <ul class="list">
              {emails.map((email) => (
                <EmailRow email={email} />
              ))}
            </ul>
          </section>
        </div>
      </>,
    );
  },
});

function MessageRow({ message: { from, to, text, receivedAt } }: { message: ReceivedMessage }): VNode {
  return (
    <li>
      <a href={phonePath(to)}>
        <span class="who">{spaced(to)}</span> <Time at={receivedAt} />
        <span class="what">
          <strong>{from ?? 'Unknown number'}</strong> {text}
        </span>
      </a>
    </li>
  );
}
