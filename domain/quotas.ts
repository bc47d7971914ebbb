/** What bounds how much an account keeps. */
interface Quota {
  /** Unless staff have said otherwise. */
  usual: number;
  /** The most that staff may allow. */
  max: number;
  about: string;
}

/**
 * How much an account may keep. Of what is listed in one answer (groups, templates) there is not more than such an answer
 * can hold.
 */
export const QUOTAS = {
  contacts: { usual: 250_000, max: 10_000_000, about: 'contacts' },
  contact_bytes: {
    usual: 250_000_000,
    max: 10_000_000_000,
    about: "octets of all contacts' names, addresses and fields",
  },
  groups: { usual: 5_000, max: 20_000, about: 'groups' },
  memberships: {
    usual: 1_000_000,
    max: 50_000_000,
    about: 'contacts in groups, counted once for each group',
  },
  templates: { usual: 1_000, max: 5_000, about: 'message templates' },
  template_bytes: { usual: 5_000_000, max: 20_000_000, about: "octets of all templates' bodies" },
  blacklist: { usual: 500_000, max: 10_000_000, about: 'numbers on the blacklist' },
  suppressions: { usual: 500_000, max: 10_000_000, about: 'e-mail addresses on the suppression list' },
  email_file_bytes: {
    usual: 500_000_000,
    max: 50_000_000_000,
    about: 'octets of files of e-mails that wait to be handed over',
  },
  scheduled_messages: { usual: 200_000, max: 5_000_000, about: 'messages that wait for their send time' },
  links: { usual: 5_000_000, max: 100_000_000, about: 'tracked links' },
  unpaid_messages: {
    usual: 20_000,
    max: 1_000_000,
    about:
      'messages of 24 hours that were rejected (blacklist) or cancelled, and so cost nothing; as many addresses of e-mails to nobody',
  },
  unpaid_bytes: { usual: 50_000_000, max: 1_000_000_000, about: 'octets of the texts of such messages' },
} as const satisfies Record<string, Quota>;

export type QuotaName = keyof typeof QUOTAS;
export type Quotas = Record<QuotaName, number>;

export const QUOTA_NAMES = Object.keys(QUOTAS) as QuotaName[];

/** @param changed what staff have set of an account */
export function quotasOf(changed: Partial<Quotas>): Quotas {
  const usual = QUOTA_NAMES.map((name): [QuotaName, number] => [name, changed[name] ?? QUOTAS[name].usual]);
  return Object.fromEntries(usual) as Quotas;
}
