import { describe, expect, test } from 'vitest';
import { storable } from '../../domain/ids.ts';
import { type InboundRow, inboundRecord } from '../../domain/incoming.ts';
import { linkRecord, type TrackedLinkRow } from '../../domain/links.ts';
import { blacklistReason, reasonText } from '../../domain/statuses.ts';
import { type MessageRow, messageRecord } from '../../domain/records.ts';

const [CREATED, LATER] = [new Date('2026-01-05T10:00:00Z'), new Date('2026-01-05T11:30:00.5Z')];

const MESSAGE: MessageRow = {
  ...{ id: 'msg_1', channel: 'sms', status: 'sent', recipient: '+48500100200', sender: 'SKLEP' },
  ...{ text: 'Cześć', content: null },
  ...{ parts: 2, costGrosze: 30, priority: true, reference: 'zam-1' },
  ...{ sendAt: null, expiresAt: null, deliveredAt: null, errorCode: null },
  ...{ createdAt: CREATED, updatedAt: LATER },
};

describe('a message', () => {
  test('has the fields of the document, in its order', () => {
    expect(Object.entries(messageRecord(MESSAGE))).toEqual([
      ['id', 'msg_1'],
      ['type', 'sms'],
      ['status', 'sent'],
      ['to', '+48500100200'],
      ['from', 'SKLEP'],
      ['text', 'Cześć'],
      ['subject', null],
      ['parts', 2],
      ['cost_grosze', 30],
      ['priority', true],
      ['reference', 'zam-1'],
      ['send_at', null],
      ['expires_at', null],
      ['delivered_at', null],
      ['error', null],
      ['created_at', '2026-01-05T10:00:00.000Z'],
      ['updated_at', '2026-01-05T11:30:00.500Z'],
    ]);
  });

  test('shows its instants in UTC', () => {
    const row = { ...MESSAGE, sendAt: CREATED, expiresAt: LATER, deliveredAt: LATER };
    expect(messageRecord(row)).toMatchObject({
      send_at: '2026-01-05T10:00:00.000Z',
      expires_at: '2026-01-05T11:30:00.500Z',
      delivered_at: '2026-01-05T11:30:00.500Z',
    });
  });

  test.each([
    ['failed', 'given_up', 'Wiadomość nie została wysłana: operator serwisu zrezygnował z nadania.'],
    ['rejected', 'blacklisted', 'Numer jest na czarnej liście konta.'],
    ['failed', null, null],
    ['queued', 'network_refused', null],
    ['undelivered', 'network_refused', null],
  ] as const)('%s with the code %s has the error %s', (status, error_code, error) => {
    expect(messageRecord({ ...MESSAGE, status, errorCode: error_code }).error).toBe(error);
  });
});

test.each([
  ['network_refused', 'Wiadomość odrzucona przez operatora przy nadaniu.'],
  ['invalid_destination', /numer odbiorcy/],
  ['rejected_on_report', 'Wiadomość odrzucona przez operatora w raporcie doręczenia.'],
  ['opted_out', 'Numer jest na czarnej liście (odbiorca zrezygnował z wiadomości).'],
  ['of a later release', 'Wiadomość odrzucona.'],
])('the code %s is worded in Polish', (code, expected) => {
  if (typeof expected === 'string') expect(reasonText(code)).toBe(expected);
  else expect(reasonText(code)).toMatch(expected);
});

test('only who opted out is said to have done so', () => {
  expect([blacklistReason(true), blacklistReason(false)]).toEqual(['opted_out', 'blacklisted']);
});

describe('a tracked link', () => {
  const LINK: TrackedLinkRow = {
    ...{ token: 'aB3dE5gH', url: 'https://example.com/', messageId: 'msg_1', recipient: '+48500100200' },
    ...{ clicks: 2, firstClickAt: CREATED, lastClickAt: LATER, createdAt: CREATED },
  };

  test('has the fields of the document, in its order', () => {
    expect(Object.entries(linkRecord(LINK, 'https://s.example'))).toEqual([
      ['token', 'aB3dE5gH'],
      ['short_url', 'https://s.example/l/aB3dE5gH'],
      ['url', 'https://example.com/'],
      ['message_id', 'msg_1'],
      ['to', '+48500100200'],
      ['clicks', 2],
      ['first_click_at', '2026-01-05T10:00:00.000Z'],
      ['last_click_at', '2026-01-05T11:30:00.500Z'],
      ['created_at', '2026-01-05T10:00:00.000Z'],
    ]);
  });

  test('without a click, and of a person who was erased, has nulls', () => {
    const row = { ...LINK, recipient: null, messageId: null, firstClickAt: null, lastClickAt: null };
    const nulls = { to: null, message_id: null, first_click_at: null, last_click_at: null };
    expect(linkRecord(row, 'https://s.example')).toMatchObject(nulls);
  });
});

describe('a reply', () => {
  const REPLY: InboundRow = {
    ...{ id: 'in_1', sender: '+48500100200', receiver: '+48500600700', text: 'Tak', replyTo: 'msg_1' },
    ...{ matchedBy: 'prefix', receivedAt: CREATED, readAt: LATER },
  };

  test('has the fields of the document, in its order', () => {
    expect(Object.entries(inboundRecord(REPLY))).toEqual([
      ['id', 'in_1'],
      ['from', '+48500100200'],
      ['to', '+48500600700'],
      ['text', 'Tak'],
      ['reply_to', 'msg_1'],
      ['matched_by', 'prefix'],
      ['received_at', '2026-01-05T10:00:00.000Z'],
      ['read_at', '2026-01-05T11:30:00.500Z'],
    ]);
  });

  test('that nobody has read yet says so', () => {
    expect(inboundRecord({ ...REPLY, readAt: null }).read_at).toBeNull();
  });

  test.each([
    ['a\0b', 'a\uFFFDb'],
    ['\uD83Da', '\uFFFDa'],
    ['a\uDE00\0', 'a\uFFFD\uFFFD'],
    ['😀 ąć', '😀 ąć'],
  ])('%j is stored as %j', (text, stored) => expect(storable(text)).toBe(stored));
});
