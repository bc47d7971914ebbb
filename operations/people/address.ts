import { type Request, writeAudit } from '../../db/accounts/audit.ts';
import { type Sql, transaction, violates, withNamedLock } from '../../db/connection.ts';
import { hashSecret } from '../../db/ids.ts';
import {
  confirmAddressChange,
  insertAddressChange,
  undoAddressChange,
} from '../../db/people/addressChanges.ts';
import { countEmail, type EmailLimit } from '../../db/people/emailLimits.ts';
import { isAddressTaken, lockPerson, membershipsOf } from '../../db/people/people.ts';
import { endSessions, type SessionRow } from '../../db/people/sessions.ts';
import { maskAddress } from '../../domain/email/address.ts';
import { type OwnEmail, sendOwnEmail } from '../email/ownEmail.ts';
import { budgetOf, type MailServices, newSecret } from './signIn.ts';

type Words = Pick<OwnEmail, 'subject' | 'text'>;

interface ChangeRequest {
  personId: string;
  /** The new one, as made by `signInAddress`. */
  address: string;
  /** Of who asks, as made by `limitedNetwork`. */
  network: string;
  requestId: string;
  words: {
    /** The e-mail with the link of this token. */
    confirm: (token: string) => Words;
    /** What the address is told if somebody signs in by it. */
    taken: Words;
  };
}

/** Sends a link to a new address, by which it proves itself. Does the same whether somebody has the address. @returns `unavailable`: no e-mail can be sent */
export async function requestAddressChange(
  services: MailServices,
  { personId, address, network, requestId, words }: ChangeRequest,
): Promise<'sent' | 'unavailable' | EmailLimit> {
  const token = newSecret();
  const stored = await withNamedLock(services.sql, `e-mails from ${network}`, async (tx) => {
    await lockPerson(tx, personId);
    const email = { kind: 'address_change', address, asker: network, forPerson: true } as const;
    const counted = await countEmail(tx, email, budgetOf(services));
    if ('limited' in counted) return counted;
    await insertAddressChange(tx, { personId, address, linkHash: hashSecret(token) });
    return { taken: await isAddressTaken(tx, address, personId) };
  });
  if ('limited' in stored) return stored;
  const told = stored.taken ? words.taken : words.confirm(token);
  const { state } = await sendOwnEmail(services, { to: address, ...told, idx: requestId, secret: true });
  return state === 'accepted' ? 'sent' : 'unavailable';
}

/** Why a link changes nothing. `over`: used, old, or not for this person; `taken`: somebody has the address by now. */
export type NotChanged = 'over' | 'taken';

interface Confirmation {
  token: string;
  session: SessionRow;
  request: Request;
  words: {
    /** What the new address is told. */
    changed: (former: string) => Words;
    /** What the former one is told, with the link of the token that undoes it. */
    undo: (address: string, token: string) => Words;
  };
}

/** Gives a person the new address, ends all other sessions, and tells both addresses; the former one can undo it for seven days. */
export async function confirmAddress(
  services: MailServices,
  { token, session, request, words }: Confirmation,
): Promise<'changed' | NotChanged> {
  const undo = newSecret();
  const { personId } = session;
  const changed = await transaction(services.sql, async (tx) => {
    const row = await confirmAddressChange(tx, personId, hashSecret(token), hashSecret(undo));
    if (row === undefined) return 'over';
    await endSessions(tx, personId, { except: session.id });
    const details = { from: maskAddress(row.former), address: maskAddress(row.address) };
    await record(tx, personId, 'address change', details, request);
    return row;
  }).catch((error: unknown) => {
    if (violates(error, 'people_address_key')) return 'taken' as const;
    throw error;
  });
  if (typeof changed === 'string') return changed;
  const { former, address } = changed;
  const { requestId } = request;
  await sendOwnEmail(services, {
    ...{ to: former, ...words.undo(address, undo), idx: `${requestId}-undo`, secret: true },
  });
  await sendOwnEmail(services, { to: address, ...words.changed(former), idx: requestId });
  return 'changed';
}

interface Undoing {
  token: string;
  requestId: string;
  /** What the address that is given up by it is told. */
  words: (address: string) => Words;
}

/** Gives a person the former address back, ends all sessions, and tells the address that it replaces. */
export async function undoAddress(
  services: MailServices,
  { token, requestId, words }: Undoing,
): Promise<'changed' | 'over'> {
  const undone = await transaction(services.sql, async (tx) => {
    const undone = await undoAddressChange(tx, hashSecret(token));
    if (undone === undefined) return undefined;
    // Without the request: changes that a stranger made today must not count against it.
    await record(tx, undone.personId, 'address undo', { address: maskAddress(undone.address) });
    return undone;
  });
  if (undone === undefined) return 'over';
  await sendOwnEmail(services, { to: undone.replaced, ...words(undone.address), idx: requestId });
  return 'changed';
}

/** Records a change in each account of the person. */
async function record(
  tx: Sql,
  person: string,
  action: string,
  details: Record<string, string>,
  request?: Request,
): Promise<void> {
  for (const { accountId: account } of await membershipsOf(tx, person))
    await writeAudit(tx, {
      ...{ actor: person, action, account, subject: person, details, request },
      protective: true,
    });
}
