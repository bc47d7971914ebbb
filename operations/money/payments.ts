import type { Client } from '@temporalio/client';
import { writeAudit } from '../../db/accounts/audit.ts';
import { lockAccount } from '../../db/accounts/staff.ts';
import { type Database, type Sql, transaction } from '../../db/connection.ts';
import { newId } from '../../db/ids.ts';
import {
  findPayment,
  insertPayment,
  mayAskToLook,
  openPaymentsOf,
  readPaymentRow,
} from '../../db/money/payments.ts';
import { lockStatement } from '../../db/money/statements.ts';
import { requireRole } from '../../db/people/members.ts';
import type { PersonActor } from '../../domain/actor.ts';
import { MAX_TOP_UP_GROSZE, MIN_TOP_UP_GROSZE } from '../../domain/money.ts';
import type { Routing } from '../../domain/routing.ts';
import type { PaymentEvent, ProcessorName } from '../../domain/payments.ts';
import { withVat } from '../../domain/vat.ts';
import { lookSignal } from '../../workflows/contracts.ts';
import { topupStart } from '../../workflows/startOptions.ts';

// Who tries stolen cards opens many checkouts.
const OPEN_MAX = 3;

export interface PaymentServices {
  sql: Database;
  temporal: Client;
  routing: () => Promise<Routing>;
  settings: { PAYMENT_PROCESSOR?: ProcessorName | undefined };
}

/** The processor that payments are made by: the one that is set, else the simulated one where the whole network is; null: none. */
export async function paymentProcessor({
  settings: { PAYMENT_PROCESSOR: chosen },
  routing,
}: Pick<PaymentServices, 'settings' | 'routing'>): Promise<ProcessorName | null> {
  if (chosen !== undefined) return chosen;
  const routes = (await routing()).routes.filter(({ state }) => state !== 'disabled');
  return routes.length > 0 && routes.every(({ simulated }) => simulated) ? 'simulated' : null;
}

type Why =
  'off' | 'amount' | 'company_data_missing' | 'too_many_open' | 'statement_unavailable' | 'account_closed';
export type StartedPayment = { id: string } | { refused: Why };

interface Asked<Input> {
  services: PaymentServices;
  caller: { accountId: string; actor: PersonActor; address: string; requestId: string };
  input: Input & { language: 'pl' | 'en'; returnUrl: (id: string) => string };
}

/** Starts a top-up: its workflow opens a checkout, by which a person pays. @param netGrosze 50 PLN at least (v2.3.0, Limits) */
export async function startTopUp(asked: Asked<{ netGrosze: number }>): Promise<StartedPayment> {
  const { netGrosze } = asked.input;
  if (!Number.isSafeInteger(netGrosze) || netGrosze < MIN_TOP_UP_GROSZE || netGrosze > MAX_TOP_UP_GROSZE)
    return { refused: 'amount' };
  return await start(asked, () => Promise.resolve({ netGrosze, statement: null }));
}

/** Starts the payment of a statement, or finds the one that is open. */
export async function startStatementPayment(asked: Asked<{ statement: string }>): Promise<StartedPayment> {
  const { caller, input } = asked;
  return await start(asked, async (tx) => {
    const statement = await lockStatement(tx, input.statement);
    if (statement?.accountId !== caller.accountId || statement.paidAt !== null) return null;
    return { netGrosze: statement.amountGrosze, statement: statement.id };
  });
}

async function start(
  { services, caller, input }: Asked<unknown>,
  whatFor: (tx: Sql) => Promise<{ netGrosze: number; statement: string | null } | null>,
): Promise<StartedPayment> {
  const processor = await paymentProcessor(services);
  const { accountId: account, actor, address, requestId } = caller;
  if (processor === null) return { refused: 'off' };
  return await transaction(services.sql, async (tx): Promise<StartedPayment> => {
    const { status } = (await lockAccount(tx, account))!;
    await requireRole(tx, actor);
    if (status === 'closed') return { refused: 'account_closed' };
    const wanted = await whatFor(tx);
    if (wanted === null) return { refused: 'statement_unavailable' };
    const open = await openPaymentsOf(tx, account);
    const same = open.find(({ statementId }) => statementId !== null && statementId === wanted.statement);
    if (same !== undefined) return { id: same.id };
    if (open.length >= OPEN_MAX) return { refused: 'too_many_open' };
    const id = newId('pay');
    const price = withVat(wanted.netGrosze);
    const how = { automatic: false, processor, language: input.language, returnUrl: input.returnUrl(id) };
    if (!(await insertPayment(tx, { id, account, statement: wanted.statement, ...price, ...how })))
      return { refused: 'company_data_missing' };
    const details = { amount_grosze: wanted.netGrosze, statement: wanted.statement };
    const request = { address, requestId };
    await writeAudit(tx, {
      actor: actor.id,
      action: 'payment start',
      account,
      subject: id,
      details,
      request,
    });
    return { id };
  });
}

/** Asks the workflow of a payment to look at the processor, as an event of it says. @returns false if no payment of ours is meant */
export async function lookAtPayment(
  { sql, temporal }: Pick<PaymentServices, 'sql' | 'temporal'>,
  processor: string,
  event: PaymentEvent,
): Promise<boolean> {
  const payment = await findPayment(sql, processor, event);
  if (payment === undefined) return false;
  await askToLook(temporal, payment, event.reference);
  return true;
}

/** The same when the payer comes back, every few seconds at most. */
export async function lookOnReturn(
  { sql, temporal }: Pick<PaymentServices, 'sql' | 'temporal'>,
  id: string,
): Promise<void> {
  if (!(await mayAskToLook(sql, id))) return;
  const payment = await readPaymentRow(sql, id);
  if (payment !== undefined) await askToLook(temporal, payment);
}

/** Starts the workflow of a payment if it has ended or is lost. */
export async function askToLook(
  temporal: Client,
  payment: { id: string; accountId: string },
  reference: string | null = null,
): Promise<void> {
  await temporal.workflow.signalWithStart('topup', {
    ...topupStart(payment),
    signal: lookSignal,
    signalArgs: [reference],
  });
}
