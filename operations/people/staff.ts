import {
  addStaff as insertStaff,
  changeStaffRole as storeRole,
  removeStaff as deleteStaff,
  replaceStaffFactors,
  type StaffRow,
  staffTotpOwner,
  staffWith,
  visitAccount as showAccount,
} from '../../db/people/staff.ts';
import type { Sql } from '../../db/connection.ts';
import { newId } from '../../db/ids.ts';
import { encrypt } from '../../db/installation.ts';
import { maskAddress } from '../../domain/email/address.ts';
import { StaffRefused } from '../../domain/refusals.ts';
import type { StaffRole } from '../../domain/staff.ts';
import { actorName } from '../../domain/actor.ts';
import { findAccount } from '../accounts/accounts.ts';
import { recorded, type StaffServices } from '../staff.ts';
import { newTotpSecret, totpAddress } from './totp.ts';

/** The key of an authenticator app, to be handed over once: `otpauth:` is what it reads from a QR code. */
interface NewApp {
  totpSecret: string;
  otpauth: string;
}

interface Named {
  /** As made by `signInAddress`. */
  address: string;
}

/** Lets somebody use the console, by this address and an authenticator app. @throws StaffRefused staff_exists */
export const addStaff = recorded(
  'staff add',
  async (tx, { address, name, role }: Named & { name: string; role: StaffRole }, { services, actor }) => {
    const staff = { id: newId('stf'), address, name, role };
    const { app, sealed } = await newApp(services, staff);
    if (!(await insertStaff(tx, staff, { totpSecret: sealed, addedBy: actorName(actor) })))
      throw new StaffRefused({ reason: 'staff_exists', address, name });
    return { data: { ...staff, ...app }, ...aboutOne(staff), details: { name, role } };
  },
);

/** Changes what one of staff does, from the next page on. @throws StaffRefused staff_missing */
export const changeStaffRole = recorded(
  'staff role',
  async (tx, { address, role }: Named & { role: StaffRole }) => {
    const staff = await oneOfStaff(tx, address);
    await storeRole(tx, staff.id, role);
    return { data: { ...staff, role }, ...aboutOne(staff), details: { from: staff.role, to: role } };
  },
);

/** Gives one of staff, who has lost it, another authenticator app; passkeys and sessions end. @throws StaffRefused staff_missing */
export const resetStaff = recorded('staff reset', async (tx, { address }: Named, { services }) => {
  const staff = await oneOfStaff(tx, address);
  const { app, sealed } = await newApp(services, staff);
  await replaceStaffFactors(tx, staff.id, sealed);
  return { data: { ...staff, ...app }, ...aboutOne(staff) };
});

/** Shuts one of staff out at once. @throws StaffRefused staff_missing */
export const removeStaff = recorded('staff remove', async (tx, { address }: Named) => {
  const staff = await oneOfStaff(tx, address);
  await deleteStaff(tx, staff.id);
  return { data: staff, ...aboutOne(staff), details: { name: staff.name } };
});

/** Shows an account as its customer sees it, in a session of the console; the customer's activity says so. @throws StaffRefused account_missing */
export const visitAccount = recorded(
  'account visit',
  async (tx, { account, session }: { account: string; session: string }) => {
    await findAccount(tx, account);
    await showAccount(tx, session, account);
    return { data: null, account };
  },
);

async function oneOfStaff(tx: Sql, address: string): Promise<StaffRow> {
  const staff = await staffWith(tx, address);
  if (staff === undefined) throw new StaffRefused({ reason: 'staff_missing', address });
  return staff;
}

const aboutOne = ({ id, address }: StaffRow) => ({ subject: `${id} ${maskAddress(address)}` });

async function newApp(services: StaffServices, { id, address }: Pick<StaffRow, 'id' | 'address'>) {
  const totpSecret = newTotpSecret();
  const app: NewApp = { totpSecret, otpauth: totpAddress(totpSecret, address) };
  return { app, sealed: encrypt(await services.secretsKey(), staffTotpOwner(id), totpSecret) };
}
