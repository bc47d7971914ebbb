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

const OF_ACCOUNT = 'account_id = ${accountId}';

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

// Where what another account owns is not shown, but counts for something.
const SEEN_ELSEWHERE: Readonly<Record<string, Pick<Change, 'tests' | 'only'>>> = {
  'db/emails/events.ts': { tests: ['test/api/email/reports.test.ts'], only: 'of one of several' },
  'db/emails/ownEmails.ts': { tests: ['test/admin/ownEmails.test.ts'], only: 'used its idx' },
  'db/emails/terms.ts': {
    tests: ['test/api/email/send.test.ts', 'test/api/email/suppressions.test.ts'],
    only: 'a test account pays|default domain|quota of what costs nothing',
  },
};

/** Every condition on the account, dropped: what another account owns would be shown, counted or changed. */
function withoutAccount(): Change[] {
  return sources('db').flatMap((file) => {
    const count = readFileSync(file, 'utf8').split(OF_ACCOUNT).length - 1;
    return Array.from({ length: count }, (_, index) => ({
      ...{ name: `any account: ${file} ${index + 1}`, file, from: OF_ACCOUNT, at: index + 1 },
      to: 'account_id is not null',
      ...(SEEN_ELSEWHERE[file] ?? { tests: ['test/api/access.test.ts'], only: 'of another account' }),
    }));
  });
}

function sources(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name))
    .sort();
}
