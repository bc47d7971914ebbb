import { describe, expect, test } from 'vitest';
import {
  deliveryReportEvent,
  incomingSmsEvent,
  type LoggedRow,
  messageLog,
  type ReportedRow,
} from '../../domain/earlier.ts';
import type { MessageStatus } from '../../domain/statuses.ts';

// 2026-03-05 12:00:00 UTC, and the 42nd message of that second.
const SENT_KEY = 1_772_712_000_000_042;
const SENT_AT = '2026-03-05T12:00:00.000Z';
const CHANGED_AT = '2026-03-05T12:00:07.250Z';

describe('`delivery_report` (v1.2.0, Events)', () => {
  const row: ReportedRow = {
    id: 'msg_1',
    recipient: '+48500100200',
    idx: 'order-7',
    sentKey: SENT_KEY,
    status: 'delivered',
    errorCode: null,
    submission: 'answered',
    updatedAt: new Date(CHANGED_AT),
  };

  test('of a delivered message has all fields of the document', () => {
    expect(deliveryReportEvent(row)).toEqual({
      event: 'delivery_report',
      message_id: 'msg_1',
      to: '+48500100200',
      status: 'delivered',
      sent_at: SENT_AT,
      done_at: CHANGED_AT,
      idx: 'order-7',
    });
  });

  test.each<[MessageStatus, Partial<ReportedRow>, string, string | null, string | null]>([
    ['scheduled', { sentKey: null, submission: 'waiting' }, 'queued', null, null],
    ['queued', { submission: 'waiting' }, 'queued', null, null],
    ['sent', {}, 'sent', SENT_AT, null],
    ['failed', { errorCode: 'rejected_on_report' }, 'failed', SENT_AT, CHANGED_AT],
    ['failed', { errorCode: 'given_up' }, 'failed', null, CHANGED_AT],
    ['expired', { submission: 'waiting' }, 'expired', null, CHANGED_AT],
    ['cancelled', { sentKey: null, submission: 'waiting' }, 'failed', null, CHANGED_AT],
    // From before messages had a place in the history.
    ['delivered', { sentKey: null }, 'delivered', null, CHANGED_AT],
  ])(
    'of a message that is %s (%j): `status` %s, `sent_at` %s, `done_at` %s',
    (status, given, shown, sentAt, doneAt) => {
      expect(deliveryReportEvent({ ...row, ...given, status })).toMatchObject({
        ...{ status: shown, sent_at: sentAt, done_at: doneAt },
      });
    },
  );
});

describe('`incoming_sms` (v1.2.0, Events)', () => {
  const row = {
    id: 'in_1',
    sender: '+48500100200',
    receiver: '+48799000111',
    text: 'TAK',
    receivedAt: new Date(CHANGED_AT),
  };

  test('has all fields of the document', () => {
    expect(incomingSmsEvent(row, '+48799000222')).toEqual({
      event: 'incoming_sms',
      message_id: 'in_1',
      from: '+48500100200',
      to: '+48799000111',
      message: 'TAK',
      received_at: CHANGED_AT,
    });
  });

  test('is to the account’s two-way number where no network says which one it came to', () => {
    expect(incomingSmsEvent({ ...row, receiver: null }, '+48799000222').to).toBe('+48799000222');
  });

  test('keeps the required `to`, empty, where neither is known', () => {
    expect(incomingSmsEvent({ ...row, receiver: null }, null).to).toBe('');
  });
});

describe('a record of the history (v1.2.0, MessageLog)', () => {
  const row: LoggedRow = {
    id: 'msg_1',
    providerMessageId: '6A1B',
    channel: 'sms',
    sender: 'SKLEP',
    recipient: '+48500100200',
    preview: 'Dzień dobry!',
    parts: 3,
    costGrosze: 45,
    idx: 'order-7',
    sentKey: SENT_KEY,
    status: 'delivered',
    errorCode: null,
    submission: 'answered',
    deliveredAt: new Date('2026-03-05T12:00:06.000Z'),
    updatedAt: new Date(CHANGED_AT),
  };

  test('has all fields of the document', () => {
    expect(messageLog(row)).toEqual({
      id: 'msg_1',
      smsapi_id: '6A1B',
      type: 'sms',
      sender: 'SKLEP',
      recipient: '+48500100200',
      message_preview: 'Dzień dobry!',
      parts: 3,
      cost_grosze: 45,
      cost_pln: 0.45,
      status: 'sent',
      dlr_status: 'delivered',
      dlr_updated_at: '2026-03-05T12:00:06.000Z',
      idx: 'order-7',
      sent_at: SENT_AT,
    });
  });

  test('has null for what is not known, and for a text that is gone', () => {
    const bare = { ...row, providerMessageId: null, sender: null, idx: null, preview: '' };
    expect(messageLog(bare)).toMatchObject({
      ...{ smsapi_id: null, sender: null, idx: null, message_preview: null },
    });
  });

  test.each<[MessageStatus, string, string | null, string | null]>([
    ['queued', 'queued', null, null],
    ['sent', 'sent', null, null],
    ['undelivered', 'sent', 'undelivered', CHANGED_AT],
    ['rejected', 'rejected', null, null],
  ])(
    'of one that is %s: `status` %s, `dlr_status` %s, `dlr_updated_at` %s',
    (status, shown, dlrStatus, dlrUpdatedAt) => {
      const submission = status === 'queued' || status === 'rejected' ? 'waiting' : 'answered';
      expect(messageLog({ ...row, status, submission, deliveredAt: null })).toMatchObject({
        ...{ status: shown, dlr_status: dlrStatus, dlr_updated_at: dlrUpdatedAt, sent_at: SENT_AT },
      });
    },
  );
});
