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
    ...RESOURCE_CHANGES,
    ...REQUEST_CHANGES,
    ...PROTOCOL_CHANGES,
    ...notErased(),
    ...withoutAccount(),
  ];
}

// Where what another account owns is not shown, but counts for something; by file, or by change.
const SEEN_ELSEWHERE: Readonly<Record<string, Pick<Change, 'tests' | 'only' | 'survives'>>> = {
  'db/accounts/apiTokens.ts': { tests: ['test/api/v1_2/tokens.test.ts'] },
  'db/accounts/audit.ts': { tests: ['test/admin/commands.test.ts'] },
  'db/accounts/closings.ts': { tests: ['test/workflows/accountStops.test.ts'] },
  'db/accounts/keys.ts': { tests: ['test/api/protocol.test.ts', 'test/api/fairness.test.ts'] },
  'db/accounts/keywords.ts': { tests: ['test/api/keywords.test.ts', 'test/admin/keywords.test.ts'] },
  'db/accounts/quotas.ts': { tests: ['test/api/quotas.test.ts'] },
  'db/accounts/staff.ts': { tests: ['test/admin/commands.test.ts'] },
  'db/emails/domains.ts': { tests: ['test/admin/domains.test.ts'] },
  'db/emails/events.ts': { tests: ['test/api/email/reports.test.ts'], only: 'of one of several' },
  'db/emails/ownEmails.ts': { tests: ['test/admin/ownEmails.test.ts'], only: 'used its idx' },
  'db/emails/retention.ts': { tests: ['test/admin/emails.test.ts', 'test/admin/erase.test.ts'] },
  'db/emails/room.ts': { tests: ['test/api/email/limits.test.ts', 'test/api/email/hostile.test.ts'] },
  'db/emails/terms.ts': {
    tests: ['test/api/email/send.test.ts', 'test/api/email/suppressions.test.ts'],
    only: 'a test account pays|default domain|quota of what costs nothing',
  },
  'db/emails/timeline.ts': { tests: ['test/admin/emails.test.ts'] },
  'db/incoming/inbound.ts': { tests: ['test/api/inbound.test.ts'] },
  'db/incoming/optOut.ts': { tests: ['test/api/optOut.test.ts'] },
  'db/links/clicks.ts': { tests: ['test/api/links.test.ts'] },
  'db/lookups/lookups.ts': { tests: ['test/api/lookup.test.ts'] },
  'db/maintenance/erasure.ts': { tests: ['test/admin/erase.test.ts'] },
  'db/maintenance/findings.ts': { tests: ['test/admin/findings.test.ts'] },
  'db/messages/earlierHistory.ts': { tests: ['test/api/v1_2/history.test.ts'] },
  'db/messages/idempotency.ts': { tests: ['test/api/idempotency.test.ts'] },
  'db/messages/room.ts': { tests: ['test/api/quotas.test.ts'] },
  'db/messages/timeline.ts': { tests: ['test/admin/messageShow.test.ts'] },
  'db/money/ledger.ts': { tests: ['test/admin/money.test.ts'] },
  'db/money/ledgerChecks.ts': { tests: ['test/db/maintenance.test.ts'] },
  'db/money/statements.ts': { tests: ['test/admin/money.test.ts'] },
};

const SEEN_BY_A_STRANGER = { tests: ['test/api/access.test.ts'], only: 'of another account' };

/** Every condition on the account, dropped: what another account owns would be shown, counted or changed. */
function withoutAccount(): Change[] {
  return sources('db').flatMap((file) => {
    const found = [...readFileSync(file, 'utf8').matchAll(OF_ACCOUNT)].map(([text]) => text);
    return found.map((from, index) => ({
      ...{ name: `any account: ${file} ${index + 1}`, file, from, to: 'account_id is not null' },
      at: found.slice(0, index + 1).filter((text) => text === from).length,
      ...(SEEN_ELSEWHERE[`${file} ${index + 1}`] ?? SEEN_ELSEWHERE[file] ?? SEEN_BY_A_STRANGER),
    }));
  });
}

function sources(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name))
    .sort();
}
