import { addressKey, emailAddress } from './address.ts';
import { type ProviderEmailEvent, type RecipientState, suppressionAfter } from './statuses.ts';

/** An address of an e-mail that something is reported of. */
export interface ReportedRecipient {
  position: number;
  kind: 'to' | 'cc' | 'bcc';
  address: string;
  state: RecipientState;
}

/** An e-mail that something is reported of. */
interface ReportedEmail {
  /** Its addresses are not known any more. */
  erased: boolean;
  /** The sender's address. */
  from: string;
  recipients: readonly ReportedRecipient[];
}

type Report = Pick<ProviderEmailEvent, 'kind' | 'permanent' | 'addresses' | 'namesAllTo' | 'unverified'>;

/** An address that is not to be written to any more. */
export interface Suppressing {
  /** In small letters. */
  address: string;
  reason: 'bounce' | 'complaint';
  /** Only where another e-mail of the account has had the same reported of it. */
  ifRepeated: boolean;
}

const sentTo = <R extends ReportedRecipient>(recipients: readonly R[]): R[] =>
  recipients.filter(({ state }) => state !== 'suppressed');

/**
 * Whom of an e-mail's addresses a report is about. Of one that went to a single address it is that one, unless the provider names
 * another of its own accord: who came to the return path may write the address otherwise, or the one that it was forwarded to. A report
 * that names nobody is about all where the provider makes it, and else about nobody that can be told; so is one that names all of `to`
 * whomever it is about, copies included. A stranger's address counts for nothing.
 */
export function concernedBy<R extends ReportedRecipient>(
  report: Pick<Report, 'kind' | 'addresses' | 'namesAllTo' | 'unverified'>,
  email: Omit<ReportedEmail, 'recipients'> & { recipients: readonly R[] },
): R[] {
  const { kind, addresses, namesAllTo, unverified } = report;
  const { erased, recipients } = email;
  const all = sentTo(recipients);
  const namesAnother = addresses.length > 0 && unverified !== true && namesAllTo !== true;
  if (all.length === 1 && (erased || !namesAnother)) return all;
  if (erased) return [];
  // The provider has the whole of it, whomever it names.
  if (namesSenderAlone(report, email)) return kind === 'sent' ? all : [];
  if (addresses.length === 0) return unverified === true ? [] : all;
  const keys = new Set(addresses.map(addressKey));
  const named = all.filter(({ address }) => keys.has(addressKey(address)));
  if (namesAllTo !== true || named.length === 0 || isHidden(all)) return named;
  return all.every((one) => one.kind !== 'to' || named.includes(one)) ? all : named;
}

/**
 * Which address a report keeps from being written to again; null: none. It has to be the only one that the report is about: what is
 * said of several is not known of any. Of an erased e-mail only a provider's word counts, which names the address itself. What
 * anybody may have written who got the e-mail is believed of others only once it is said of two e-mails.
 */
export function suppressing(report: Report, email: ReportedEmail): Suppressing | null {
  const reason = suppressionAfter(report);
  const address = reason === null ? null : soleAddress(report, email);
  if (reason === null || address === null) return null;
  const ifRepeated = report.unverified === true && sentTo(email.recipients).length > 1;
  return { address: addressKey(address), reason, ifRepeated };
}

function soleAddress(report: Report, email: ReportedEmail): string | null {
  const { addresses, namesAllTo, unverified } = report;
  if (email.erased) {
    const isSole = addresses.length === 1 && (namesAllTo !== true || sentTo(email.recipients).length === 1);
    return unverified === true || !isSole ? null : emailAddress(addresses[0]!);
  }
  const [first, ...more] = concernedBy(report, email);
  return first === undefined || more.length > 0 ? null : first.address;
}

/** Whether it names the sender alone, who stands in `to` of an e-mail that only hidden recipients get: it may be about any, or none. */
function namesSenderAlone(
  { addresses, namesAllTo }: Pick<Report, 'addresses' | 'namesAllTo'>,
  { from, recipients }: ReportedEmail,
): boolean {
  const sender = addressKey(from);
  return (
    namesAllTo === true &&
    addresses.length > 0 &&
    addresses.every((address) => addressKey(address) === sender) &&
    isHidden(sentTo(recipients))
  );
}

const isHidden = (recipients: readonly ReportedRecipient[]): boolean =>
  recipients.every(({ kind }) => kind === 'bcc');

/**
 * Whether nobody has to hear of it: what anybody may have written about people who did not get the e-mail, and what the provider says of
 * the copy that the sender got in place of others.
 */
export function isIdle(
  report: Pick<Report, 'addresses' | 'namesAllTo' | 'unverified'>,
  email: ReportedEmail,
  concerned: readonly unknown[],
): boolean {
  if (concerned.length > 0 || report.addresses.length === 0) return false;
  return report.unverified === true || (!email.erased && namesSenderAlone(report, email));
}
