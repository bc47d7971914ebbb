import type { Change } from './changes.ts';

const MMS = ['test/api/mms.test.ts'];
const VOICE = ['test/api/voice.test.ts'];
const SMIL = ['test/domain/smil.test.ts'];
const EARLIER = ['test/api/v1_2/send.test.ts'];
const TOKENS = ['test/api/v1_2/tokens.test.ts'];
const BULK = ['test/api/v1_2/bulk.test.ts'];

/** Faults in MMS, voice, and the earlier interface. */
export const CHANNEL_CHANGES: readonly Change[] = [
  {
    name: 'foreign MMS cost twice the domestic price',
    file: 'domain/channels/mms.ts',
    from: 'foreignAtTwice: false',
    to: 'foreignAtTwice: true',
    tests: MMS,
  },
  {
    name: 'an MMS has priority',
    file: 'domain/channels/mms.ts',
    from: 'priority: false',
    to: 'priority: true',
    tests: MMS,
  },
  {
    name: 'a value is put into SMIL as it is',
    file: 'domain/channels/mms.ts',
    from: 'written: inSmil',
    to: 'written: (value) => value',
    tests: MMS,
  },
  {
    name: 'SMIL is not looked at',
    file: 'domain/channels/mms.ts',
    from: 'faultOf: faultOfSmil',
    to: 'faultOf: () => null',
    tests: MMS,
  },
  {
    name: 'placeholders may stand in attributes',
    file: 'domain/smil.ts',
    from: "if (!literal && value.includes('{{'))",
    to: "if (!literal && value.includes('{{{{'))",
    tests: SMIL,
  },
  {
    name: 'media at private addresses are taken',
    file: 'domain/smil.ts',
    from: 'faultOfAddress(source, false) === null',
    to: 'faultOfAddress(source, true) === null',
    tests: SMIL,
  },
  {
    name: 'the subject of a template stands before the own one',
    file: 'operations/sending/contents.ts',
    from: 'own ?? template?.subject ?? null',
    to: 'template?.subject ?? own ?? null',
    tests: MMS,
  },
  {
    name: 'a template of any type is taken',
    file: 'operations/sending/wording.ts',
    from: 'if (template.type !== channel)',
    to: 'if (false)',
    tests: MMS,
  },
  {
    name: 'a call shows a name',
    file: 'domain/channels/vms.ts',
    from: 'senderIsNumber: true',
    to: 'senderIsNumber: false',
    tests: VOICE,
  },
  {
    name: 'a call holds links',
    file: 'domain/channels/vms.ts',
    from: 'links: false',
    to: 'links: true',
    tests: VOICE,
  },
  {
    name: 'a call does not wait for calling hours',
    file: 'operations/sending/plan.ts',
    from: "channel === 'vms' && !rejected ? callingHoursOf(routing, route) : null",
    to: 'null',
    tests: VOICE,
  },
  {
    name: 'calling hours do not hold the last try',
    file: 'domain/callingHours.ts',
    from: '((tries - 1) * betweenTriesS) / 60',
    to: '0',
    tests: ['test/domain/callingHours.test.ts'],
  },
  {
    name: 'the simulated network takes what a real route cannot carry',
    file: 'domain/routing.ts',
    from: 'carriesMessages && admits({ ...rule, type: null }, traffic)',
    to: 'route.carries.includes(traffic.type) && admits(rule, traffic)',
    tests: ['test/domain/routing.test.ts'],
  },
  {
    name: 'a picture that is refused breaks the route',
    file: 'providers/smsapi/errorCodes.ts',
    from: "channel === 'sms' ? undefined : REFUSED_BESIDE_SMS[code]",
    to: 'undefined',
    tests: ['test/providers/smsapiChannels.test.ts'],
  },
  {
    name: 'the simulated network forgets what stands beside the text',
    file: 'db/routes/simulator.ts',
    from: '${optionsOf(part)}::text::jsonb',
    to: 'null',
    tests: ['test/api/simulatedNetwork.test.ts'],
  },
  {
    name: 'a token that was revoked goes on',
    file: 'db/accounts/keys.ts',
    from: 'where t.hash = ${hash} and t.revoked_at is null',
    to: 'where t.hash = ${hash}',
    tests: TOKENS,
  },
  {
    name: 'tokens are counted with their account',
    file: 'db/accounts/keys.ts',
    from: 'countedFor(sql, sql`key_id`, requests)',
    to: 'countedFor(sql, sql`account_id`, requests)',
    tests: TOKENS,
  },
  {
    name: 'an error without a key has the form of the current interface everywhere',
    file: 'api/http/routes.ts',
    from: 'owners.has(INTERFACE) ? INTERFACE : [...owners.keys()][0]!',
    to: 'INTERFACE',
    tests: TOKENS,
  },
  {
    name: 'placeholders are filled in texts of the earlier interface',
    file: 'api/v1_2/sending.ts',
    from: 'literal: true',
    to: 'literal: false',
    tests: EARLIER,
  },
  {
    name: 'utf-8 is counted as the text needs it',
    file: 'api/v1_2/sms.ts',
    from: "asked === 'gsm' ? 'gsm7' : 'ucs2'",
    to: "asked === 'gsm' ? 'gsm7' : (undefined as never)",
    tests: EARLIER,
  },
  {
    name: 'an idx is known without its channel',
    file: 'operations/sending/idempotency.ts',
    from: '`\\u0001${channel}:',
    to: '`\\u0001:',
    tests: ['test/http/earlierKeys.test.ts'],
  },
  {
    name: 'a message may be scheduled 61 days ahead',
    file: 'domain/earlierInterface.ts',
    from: '60 * 24 * 3_600_000',
    to: '61 * 24 * 3_600_000',
    tests: EARLIER,
  },
  {
    name: 'malformed numbers of a bulk are left out in silence',
    file: 'api/v1_2/bulk.ts',
    from: 'if (positions.length > 0)',
    to: 'if (positions.length > 1e6)',
    tests: BULK,
  },
  {
    name: 'items of a bulk are sent again in spite of their idx',
    file: 'operations/sending/sendItems.ts',
    from: 'claims.length > 0\n',
    to: 'claims.length > 1e6\n',
    tests: BULK,
  },
  {
    name: 'of a taken idx the other items are sent all the same',
    file: 'db/messages/drafts.ts',
    from: 'if (claimed.length === 0) throw new KeyTakenError();',
    to: '',
    tests: BULK,
  },
];
