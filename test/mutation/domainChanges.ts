import type { Change } from './changes.ts';

const DOMAINS = 'db/emails/domains.ts';
const STATES = 'domain/email/domainStates.ts';
const ADMIN = ['test/admin/domains.test.ts'];
const PURE = ['test/domain/senderDomains.test.ts'];

/** Faults in sender domains. */
export const DOMAIN_CHANGES: readonly Change[] = [
  {
    name: 'any account finds a sender domain by its name',
    file: DOMAINS,
    from: 'from sender_domains where account_id = ${account} and name = ${name}`;\n  return domain;',
    to: 'from sender_domains where name = ${name}`;\n  return domain;',
    tests: ADMIN,
    only: 'nobody’s but its account’s',
  },
  {
    name: 'a sender domain is usable before it is verified',
    file: DOMAINS,
    from: 'where v.domain_id = d.id and v.verified_at is not null))`',
    to: 'where v.domain_id = d.id))`',
    tests: ADMIN,
    only: 'verify it once all are there',
  },
  {
    name: 'a proven claim gives way with its age',
    file: DOMAINS,
    from: 'where r.domain_id = d.id and r.verified_at is not null)\n            and greatest',
    to: 'where r.domain_id = d.id and r.verified_at is null)\n            and greatest',
    tests: ADMIN,
    only: 'that is proven',
  },
  {
    name: 'a claim of a name that staff answer for gives way',
    file: DOMAINS,
    from: '             or d.confirmed_at is null\n',
    to: '             or true\n',
    tests: ADMIN,
    only: 'that is proven',
  },
  {
    name: 'what a provider had verified before is taken over',
    file: 'operations/email/domains/look.ts',
    from: '!added.verified && !added.records.some(({ seen }) => seen)',
    to: 'true',
    tests: ADMIN,
    only: 'what somebody else proved',
  },
  {
    name: 'a DNS that fails is taken for one that has no records',
    file: 'operations/email/domains/dns.ts',
    from: "code === 'ENOTFOUND' || code === 'ENODATA'",
    to: "code === 'ENOTFOUND' || code === 'ENODATA' || code === 'ESERVFAIL'",
    tests: ADMIN,
    only: 'conclude nothing at',
  },
  {
    name: 'answers of DNS are read however long they are',
    file: 'operations/email/domains/dns.ts',
    from: 'answer.length <= RECORDS_MAX && characters <= CHARACTERS_MAX',
    to: 'characters <= CHARACTERS_MAX',
    tests: ADMIN,
    only: 'there are too many',
  },
  {
    name: 'a sender domain is lost at the first look',
    file: STATES,
    from: 'if (before.missingSince === null) return { ...before, missingSince: now };',
    to: '',
    tests: PURE,
  },
  {
    name: 'the default is not given on',
    file: 'operations/email/domains/remove.ts',
    from: '  await giveDefault(tx, accountId);\n',
    to: '',
    tests: ADMIN,
    only: 'the oldest verified when it is removed',
  },
  {
    name: 'keys of sender domains are left to the former secrets key',
    file: 'db/accounts/storedSecrets.ts',
    from: 'again(domainSecretOwner(id), key)',
    to: 'key',
    tests: ['test/admin/secrets.test.ts'],
  },
  {
    name: 'events of a sender domain that nobody delivers are not found',
    file: 'activities/reconciliation/lostWorkflows.ts',
    from: "  if (isId('dom', id)) return await judgeUnnotified(bench, 'domain', id);\n",
    to: '',
    tests: ['test/workflows/senderDomains.test.ts'],
    only: 'once it is back',
  },
];
