import type { VNode } from 'preact';
import { isPhoneOff, readReceivedMessages, type ReceivedMessage } from '../db/routes/simulatorInbox.ts';
import { parseMsisdn } from '../domain/msisdn.ts';
import { simulateReply, switchPhone } from '../operations/support/simulator.ts';
import {
  asking,
  beforeOf,
  BODY_MAX,
  framed,
  Linked,
  Older,
  PAGE_ENTRIES,
  phonePath,
  problem,
  seeOther,
  spaced,
  Time,
  simulatorPage,
} from './frame.tsx';

// Ten parts.
const REPLY_MAX = 1_530;

/** /simulator/phone: a phone; from it one answers, and switches it off. */
export const phonePage = simulatorPage('/simulator/phone', {
  async get({ services: { sql } }, query) {
    const msisdn = numberOf(query);
    if (msisdn === null) return problem(400, 'A number such as +48500100200 or 500100200 is needed.');
    const page = { limit: PAGE_ENTRIES, before: beforeOf(query), bodyMax: BODY_MAX };
    const [messages, off] = await Promise.all([
      readReceivedMessages(sql, msisdn, page),
      isPhoneOff(sql, msisdn),
    ]);
    return framed(spaced(msisdn), <Phone {...{ msisdn, off, messages, sent: query.has('sent') }} />);
  },
  async post(visit, form) {
    const msisdn = numberOf(form);
    const text = form.get('text') ?? '';
    const to = numberOf(form, 'to');
    if (msisdn === null) return problem(400, 'A number is needed.');
    const action = form.get('action');
    if (action === 'on' || action === 'off') {
      await switchPhone({ ...asking(visit), input: { msisdn, on: action === 'on' } });
      return seeOther(phonePath(msisdn));
    }
    if (text.trim() === '' || text.length > REPLY_MAX || (to === null && (form.get('to') ?? '') !== ''))
      return problem(400, `A text of at most ${REPLY_MAX} characters is needed, and a number or none.`);
    await simulateReply({ ...asking(visit), input: { from: msisdn, to, text } });
    return seeOther(`${phonePath(msisdn)}&sent`);
  },
});

function numberOf(values: URLSearchParams, name = 'number'): string | null {
  return parseMsisdn((values.get(name) ?? '').replace(/[\s\u00a0-]/g, ''));
}

interface PhoneProps {
  msisdn: string;
  off: boolean;
  messages: readonly ReceivedMessage[];
  sent: boolean;
}

function Phone({ msisdn, off, messages, sent }: PhoneProps): VNode {
  return (
    <div class="phone">
      <header>
        <h1>{spaced(msisdn)}</h1>
        <form method="post">
          <input type="hidden" name="number" value={msisdn} />
          <button class="small" name="action" value={off ? 'on' : 'off'}>
            {off ? 'Switch on' : 'Switch off'}
          </button>
        </form>
      </header>
      {off ? <p class="note">Switched off: what is sent to it comes back undelivered.</p> : null}
      {sent ? (
        <p class="note">Your text is on its way. It appears below the message that it answers.</p>
      ) : null}
      <ol class="screen" tabindex={0} aria-label="Messages, newest first">
        {messages.map((message) => (
          <Message message={message} />
        ))}
        {messages.length === 0 ? <li class="none">Nothing has arrived yet.</li> : null}
      </ol>
      <Older entries={messages} path={phonePath(msisdn)} />
      <form class="composer" method="post">
        <input type="hidden" name="number" value={msisdn} />
        <label for="to">To</label>
        <input id="to" name="to" type="tel" placeholder="whoever wrote last" />
        <label for="text">Text</label>
        <textarea id="text" name="text" rows={2} required maxlength={REPLY_MAX} />
        <button name="action" value="reply">
          Send
        </button>
      </form>
    </div>
  );
}

const CHANNEL_NAMES = { sms: null, mms: 'MMS', vms: 'Call' } as const;

function Message({ message }: { message: ReceivedMessage }): VNode {
  const { from, channel, subject, text, replies, receivedAt } = message;
  const kind = CHANNEL_NAMES[channel];
  return (
    <li>
      <p class="meta head">
        <strong>{from ?? 'Unknown number'}</strong>
        {kind === null ? null : <span class="badge">{kind}</span>}
        <Time at={receivedAt} />
      </p>
      {subject === null ? null : <p class="subject">{subject}</p>}
      <p class="bubble" dir="auto">
        <Linked text={text} />
      </p>
      {replies.map((reply) => (
        <p class="bubble own" dir="auto">
          {reply}
        </p>
      ))}
    </li>
  );
}
