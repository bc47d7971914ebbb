import { addressKey, emailAddress } from './address.ts';
import { type ProviderEmailEvent, type RecipientState, suppressionAfter } from './statuses.ts';

export interface ReportedRecipient {
  position: number;
  kind: 'to' | 'cc' | 'bcc';
  address: string;
  state: RecipientState;
}

interface ReportedEmail {
  /** Its addresses are no longer known. */
  erased: boolean;
  from: string;
  recipients: readonly ReportedRecipient[];
}

type Report = Pick<ProviderEmailEvent, 'kind' | 'permanent' | 'addresses' | 'namesAllTo' | 'unverified'>;

/** An address to suppress. */
export interface SuppressionCandidate {
  /** Lower case. */
  address: string;
  reason: 'bounce' | 'complaint';
  /** Only if the same was reported of another e-mail of the account. */
  ifRepeated: boolean;
}

const sentTo = <R extends ReportedRecipient>(recipients: readonly R[]): R[] =>
  recipients.filter(({ state }) => state !== 'suppressed');

/**
 * The recipients a report concerns. With a single recipient it is that one, unless the provider itself names another address: a bounce
 * may spell the address differently or name the one it was forwarded to. A report without addresses concerns all if the provider makes it,
 * else none. One that names all of `to` whichever it concerns also concerns all, copies included. Unknown addresses are ignored.
 */
export function affectedRecipients<R extends ReportedRecipient>(
  report: Pick<Report, 'kind' | 'addresses' | 'namesAllTo' | 'unverified'>,
  email: Omit<ReportedEmail, 'recipients'> & { recipients: readonly R[] },
): R[] {
  const { kind, addresses, namesAllTo, unverified } = report;
  const { erased, recipients } = email;
  const all = sentTo(recipients);
  const namesAnother = addresses.length > 0 && unverified !== true && namesAllTo !== true;
  if (all.length === 1 && (erased || !namesAnother)) return all;
  if (erased) return [];
  // The provider has accepted the whole e-mail, whichever address it names.
  if (namesSenderAlone(report, email)) return kind === 'sent' ? all : [];
  if (addresses.length === 0) return unverified === true ? [] : all;
  const keys = new Set(addresses.map(addressKey));
  const named = all.filter(({ address }) => keys.has(addressKey(address)));
  if (namesAllTo !== true || named.length === 0 || isHidden(all)) return named;
  return all.every((one) => one.kind !== 'to' || named.includes(one)) ? all : named;
}

/**
 * The recipients that the webhook of a report names (v1.2.0, Events, `to`): those that the report is about, else the e-mail's `to`, without
 * its copies.
 */
export function namedRecipients<R extends ReportedRecipient>(
  { addresses }: Pick<Report, 'addresses'>,
  concerned: readonly R[],
): readonly R[] {
  if (concerned.length <= 1) return concerned;
  const keys = new Set(addresses.map(addressKey));
  const named = concerned.filter(({ address }) => keys.has(addressKey(address)));
  return named.length > 0 ? named : concerned.filter(({ kind }) => kind === 'to');
}

/**
 * The address a report suppresses, or null. It must be the only one concerned: a report about several is not known to be true of any. Of an
 * erased e-mail only the provider itself counts, naming the address. An unverified report, which any recipient may have written, counts for
 * an e-mail with several recipients only once it is repeated for another e-mail.
 */
export function suppressionOf(report: Report, email: ReportedEmail): SuppressionCandidate | null {
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
  const [first, ...more] = affectedRecipients(report, email);
  return first === undefined || more.length > 0 ? null : first.address;
}

// Whether only the sender is named, who is `to` of an e-mail to hidden recipients alone: it may concern any of them, or none.
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

/** Whether a report can be dropped: unverified about other addresses, or about the sender's own copy of an e-mail to hidden recipients. */
export function isIrrelevant(
  report: Pick<Report, 'addresses' | 'namesAllTo' | 'unverified'>,
  email: ReportedEmail,
  concerned: readonly unknown[],
): boolean {
  if (concerned.length > 0 || report.addresses.length === 0) return false;
  return report.unverified === true || (!email.erased && namesSenderAlone(report, email));
}
