import { describe, expect, it } from 'vitest';
import {
  EMAIL_EVENT_KINDS,
  EMAIL_STATUSES,
  notifiedKind,
  RECIPIENT_STATES,
  shownState,
} from '../../domain/email/statuses.ts';
import { emailEvent } from '../../domain/email/dns.ts';

// Fields, kinds and limits are those of v1.2.0.
describe('an email_event', () => {
  const event = {
    ...{ kind: 'bounced' as const, emailId: 'em_1', fromAddress: 'sklep@sklep.example' },
    ...{ subject: 'Faktura', idx: 'fv-7', receivedAt: new Date('2027-01-01T12:00:00+01:00') },
    to: ['jan@klient.example', 'ola@klient.example'],
    payload: { type: 'email.bounced', data: { bounce: { type: 'Permanent' } } },
  };

  it('has the fields of the interface', () => {
    expect(emailEvent(event)).toEqual({
      event: 'email_event',
      kind: 'bounced',
      email_id: 'em_1',
      to: 'jan@klient.example, ola@klient.example',
      from: 'sklep@sklep.example',
      subject: 'Faktura',
      idx: 'fv-7',
      received_at: '2027-01-01T11:00:00.000Z',
      provider_payload: { type: 'email.bounced', data: { bounce: { type: 'Permanent' } } },
    });
  });

  it('names nobody where it is not known whom it concerns, and has an idx of null without one', () => {
    expect(emailEvent({ ...event, to: [], idx: null })).toMatchObject({ to: '', idx: null });
  });

  it.each([
    ['sent', 'sent'],
    ['delivered', 'delivered'],
    ['bounced', 'bounced'],
    ['complained', 'complained'],
    ['delayed', 'delayed'],
    ['opened', 'opened'],
    ['clicked', 'clicked'],
    ['failed', 'bounced'],
    ['suppressed', 'bounced'],
  ] as const)('of what was reported as %s is %s', (reported, kind) => {
    expect(notifiedKind(reported)).toBe(kind);
    expect(EMAIL_EVENT_KINDS).toContain(kind);
    expect(emailEvent({ ...event, kind: reported })).toMatchObject({ kind });
  });
});

describe('what is shown of an address', () => {
  it.each([
    ['failed', 'failed'],
    ['unknown', 'unknown'],
    ['queued', 'queued'],
    ['sent', 'queued'],
    ['delivered', 'queued'],
    ['suppressed', 'queued'],
  ] as const)('that still waits in an e-mail that is %s is %s', (status, shown) => {
    expect(shownState(status, 'queued')).toBe(shown);
  });

  it('that has got further is its own state, whatever the e-mail is', () => {
    for (const status of EMAIL_STATUSES) {
      for (const state of RECIPIENT_STATES.filter((one) => one !== 'queued')) {
        expect([status, state, shownState(status, state)]).toEqual([status, state, state]);
      }
    }
  });
});
