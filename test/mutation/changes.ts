import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ACCESS_CHANGES } from './accessChanges.ts';
import { CHANNEL_CHANGES } from './channelChanges.ts';
import { CONCURRENCY_CHANGES } from './concurrencyChanges.ts';
import { PROTOCOL_CHANGES } from './document/protocol.ts';
import { REQUEST_CHANGES } from './document/requests.ts';
import { RESOURCE_CHANGES } from './document/resources.ts';
import { DOMAIN_CHANGES } from './domainChanges.ts';
import { EMAIL_CHANGES } from './emailChanges.ts';
import { EMAIL_PROVIDER_CHANGES } from './emailProviderChanges.ts';
import { INCOMING_CHANGES } from './incomingChanges.ts';
import { MAINTENANCE_CHANGES, notErased } from './maintenanceChanges.ts';
import { MESSAGE_CHANGES } from './messageChanges.ts';
import { MONEY_CHANGES } from './moneyChanges.ts';
import { START_CHANGES } from './startChanges.ts';
import { WEBHOOK_CHANGES } from './webhookChanges.ts';

/** One change that a real fault could be. */
export interface Change {
  name: string;
  file: string;
  /** Text that the file has once, or more often where `at` says which one is meant, from 1. */
  from: string;
  to: string;
  at?: number;
  /** The test files of which one should fail. */
  tests: readonly string[];
  /** What the names of the tests that should fail have in common, as a pattern, where their file takes long. */
  only?: string;
  /** Why no test can see it, where none can. */
  survives?: string;
}

// With what follows it, where it is no parameter but the name of a table.
const OF_ACCOUNT = /account_id = \$\{(?:accountId|account|of)\}(?!\.)/g;

/** All changes, those that are derived from the code included. */
export function changes(): Change[] {
  return [
    ...withoutAccount(),
    ...MESSAGE_CHANGES,
    ...MONEY_CHANGES,
    ...INCOMING_CHANGES,
    ...WEBHOOK_CHANGES,
    ...DOMAIN_CHANGES,
    ...EMAIL_PROVIDER_CHANGES,
    ...ACCESS_CHANGES,
    ...CHANNEL_CHANGES,
    ...EMAIL_CHANGES,
    ...CONCURRENCY_CHANGES,
    ...MAINTENANCE_CHANGES,
    ...START_CHANGES,
    ...RESOURCE_CHANGES,
    ...REQUEST_CHANGES,
    ...PROTOCOL_CHANGES,
    ...notErased(),
  ];
}

const ALIKE = { tests: ['test/api/alike.test.ts'] };
// Where what another account owns is not shown, but counts for something; by file, or by change.
const SEEN_ELSEWHERE: Readonly<Record<string, Pick<Change, 'tests' | 'only'>>> = {
  'db/accounts/apiTokens.ts': { tests: ['test/admin/commands.test.ts'], only: 'tokens of the earlier' },
  'db/accounts/audit.ts 1': { tests: ['test/admin/commands.test.ts'], only: 'the log of acts' },
  'db/accounts/audit.ts 2': { tests: ['test/api/auditTrail.test.ts'], only: 'of 1,000 in 24 hours' },
  'db/accounts/keys.ts': { tests: ['test/api/fairness.test.ts'], only: 'the rate limit' },
  'db/accounts/keywords.ts': { tests: ['test/api/keywords.test.ts', 'test/admin/keywords.test.ts'] },
  'db/accounts/quotas.ts': { tests: ['test/api/quotas.test.ts'], only: 'scheduled messages|octets of what' },
  'db/accounts/senders.ts 2': { tests: ['test/admin/commands.test.ts'], only: 'removed from one account' },
  'db/accounts/staff.ts': { tests: ['test/admin/commands.test.ts'] },
  'db/contacts/contactChanges.ts 1': ALIKE,
  'db/contacts/contactChanges.ts 3': ALIKE,
  'db/contacts/contacts.ts 2': ALIKE,
  'db/contacts/groupMembers.ts': {
    tests: ['test/api/access.test.ts', 'test/api/groups.test.ts', 'test/api/alike.test.ts'],
    only: 'of another account|outside the account|contacts of one number',
  },
  'db/contacts/groups.ts 8': ALIKE,
  'db/emails/domains.ts': { tests: ['test/admin/domains.test.ts'] },
  'db/emails/events.ts': { tests: ['test/api/email/reports.test.ts'], only: 'of one of several' },
  'db/emails/ownEmails.ts': { tests: ['test/admin/ownEmails.test.ts'], only: 'used its idx' },
  'db/emails/retention.ts': { tests: ['test/admin/emails.test.ts'], only: 'erase --email' },
  'db/emails/room.ts': { tests: ['test/api/quotas.test.ts'], only: 'files of e-mails' },
  'db/emails/suppressions.ts 3': {
    tests: ['test/api/email/unsubscribe.test.ts'],
    only: 'of the account that sent it',
  },
  'db/emails/terms.ts': {
    tests: ['test/api/email/send.test.ts', 'test/api/email/suppressions.test.ts'],
    only: 'a test account pays|default domain|quota of what costs nothing',
  },
  'db/emails/timeline.ts': { tests: ['test/admin/emails.test.ts'], only: 'emails list' },
  'db/incoming/blacklist.ts 1': ALIKE,
  'db/incoming/inbound.ts': { tests: ['test/api/inbound.test.ts'], only: 'one account' },
  'db/incoming/optOut.ts': ALIKE,
  'db/incoming/outcomes.ts': {
    tests: ['test/db/outcomes.test.ts'],
    only: 'accounts that have enough under way last',
  },
  'db/links/links.ts 1': ALIKE,
  'db/links/links.ts 3': { tests: ['test/api/links.test.ts'], only: 'a cursor of another account' },
  'db/lookups/lookups.ts': {
    tests: ['test/api/lookup.test.ts'],
    only: 'left behind|takes all formats',
  },
  'db/maintenance/erasure.ts': { tests: ['test/admin/erase.test.ts'], only: 'leaves the others alone' },
  'db/maintenance/findings.ts': { tests: ['test/admin/findings.test.ts'] },
  'db/messages/earlierHistory.ts': { tests: ['test/api/v1_2/history.test.ts'] },
  'db/messages/idempotency.ts': ALIKE,
  'db/messages/longAnswers.ts': { tests: ['test/api/idempotency.test.ts'], only: 'kept in pieces' },
  'db/messages/room.ts': { tests: ['test/api/quotas.test.ts'], only: 'that cost nothing' },
  'db/messages/scheduled.ts': { tests: ['test/admin/stuck.test.ts'], only: 'what an account has scheduled' },
  'db/messages/templates.ts 5': { tests: ['test/api/quotas.test.ts'], only: 'of a hundred at once' },
  'db/money/ledger.ts': { tests: ['test/admin/money.test.ts'] },
  'db/money/ledgerChecks.ts': { tests: ['test/activities/ledgerChecks.test.ts'] },
  'db/money/statements.ts': { tests: ['test/admin/money.test.ts'] },
  'db/webhooks/webhookDeliveries.ts 1': {
    tests: ['test/api/webhookDeliveries.test.ts'],
    only: 'looks at 10,000 events',
  },
  'db/reports/reports.ts': { tests: ['test/api/reportFigures.test.ts'], only: 'of their own' },
};

const ID_IS_ONES = 'its id is of one account, and was read as this account’s before';
const FOR_ITS_INDEX =
  'the condition beside it has an id that is of one account: this one is there for the index';

// Where no test can see it.
const SURVIVES: Readonly<Record<string, string>> = {
  'db/accounts/closings.ts 1':
    'what is cancelled besides is of closed accounts as well, as their own closing does it',
  'db/accounts/closings.ts 2': 'what is ended besides has nothing left to do either',
  'db/contacts/contactChanges.ts 2': ID_IS_ONES,
  'db/contacts/contactChanges.ts 5': ID_IS_ONES,
  'db/emails/reads.ts 2': FOR_ITS_INDEX,
  'db/contacts/groupMembers.ts 5': FOR_ITS_INDEX,
  'db/contacts/groupMembers.ts 7': ID_IS_ONES,
  'db/emails/suppressions.ts 3':
    'who is on the list for less than a complaint is put on it for the unsubscription by the statement before',
  'db/emails/timeline.ts 1': FOR_ITS_INDEX,
  'db/links/clicks.ts 1': ID_IS_ONES,
  'db/links/links.ts 4': ID_IS_ONES,
  'db/messages/startable.ts 1': ID_IS_ONES,
  'db/messages/templates.ts 3': ID_IS_ONES,
  'db/messages/timeline.ts 2': FOR_ITS_INDEX,
  'db/messages/timeline.ts 3': FOR_ITS_INDEX,
  'db/reports/reportParts.ts 2': FOR_ITS_INDEX,
  'db/webhooks/webhookDeliveries.ts 3': FOR_ITS_INDEX,
  'db/webhooks/webhookResends.ts 1': 'whose the event is was asked before, as well',
  'db/webhooks/webhookResends.ts 2': 'whose the event is is asked again, once its account’s turn has come',
};

const SEEN_BY_A_STRANGER = { tests: ['test/api/access.test.ts'], only: 'of another account' };

/** Every condition on the account, dropped: what another account owns would be shown, counted or changed. */
function withoutAccount(): Change[] {
  return sources('db').flatMap((file) => {
    const found = [...readFileSync(file, 'utf8').matchAll(OF_ACCOUNT)].map(([text]) => text);
    return found.map((from, index) => {
      const place = `${file} ${index + 1}`;
      const survives = SURVIVES[place];
      return {
        ...{ name: `any account: ${place}`, file, from, to: 'account_id is not null' },
        at: found.slice(0, index + 1).filter((text) => text === from).length,
        ...(SEEN_ELSEWHERE[place] ?? SEEN_ELSEWHERE[file] ?? SEEN_BY_A_STRANGER),
        ...(survives === undefined ? {} : { survives }),
      };
    });
  });
}

function sources(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name))
    .sort();
}
