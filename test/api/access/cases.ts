import type { ApiAnswer } from '../../support/client.ts';
import type { TestAccount } from '../../support/factories.ts';
import { accountCases } from './account.ts';
import { blacklistCases } from './blacklist.ts';
import { emailCases } from './email.ts';
import { inboundCases } from './inbound.ts';
import { linkCases } from './links.ts';
import { lookupCases } from './lookup.ts';
import { contactCases, groupCases } from './contacts.ts';
import { messageCases } from './messages.ts';
import { reportCases } from './reports.ts';
import { templateCases } from './templates.ts';
import { verificationCases } from './verifications.ts';

/** What a victim owns and another account could name: filled by `prepare`. */
export type Belongings = Record<string, string>;

/**
 * How an endpoint is called in the tests of access. The caller is an account of its own; `of` names things of another
 * account, the victim (or of the caller itself, in the test of scopes, where the call has to succeed).
 */
export interface AccessCase {
  call(caller: TestAccount, of: Belongings): Promise<ApiAnswer>;
  /** The status for a stranger who names the victim's things; by default 404 where the path has an id, else success. */
  stranger?: number;
}

/** The cases of one resource. */
export interface AccessCases {
  /** Makes what the cases name; its texts and names contain `tajne` or `OFIARA`, its numbers 500100777. */
  prepare(account: TestAccount): Promise<Belongings>;
  /** By method and path as declared: `GET /v1/messages/:id`. */
  cases: Record<string, AccessCase>;
  /** Tables with an `account_id` that the cases could change; compared before and after. */
  tables: readonly string[];
}

/** One entry for each resource; a route without a case fails `access.test.ts`. */
export const accessCases: readonly AccessCases[] = [
  messageCases,
  accountCases,
  blacklistCases,
  templateCases,
  contactCases,
  groupCases,
  lookupCases,
  linkCases,
  inboundCases,
  reportCases,
  emailCases,
  verificationCases,
];
