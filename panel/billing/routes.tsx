import { readAccount } from '../../db/accounts/accounts.ts';
import { invoicesOf } from '../../db/money/invoices.ts';
import { paymentsOf, readListedPayment } from '../../db/money/payments.ts';
import { PAYERS } from '../../domain/actor.ts';
import { isId } from '../../domain/ids.ts';
import { parsePln } from '../../domain/money.ts';
import {
  lookOnReturn,
  paymentProcessor,
  startStatementPayment,
  startTopUp,
} from '../../operations/money/payments.ts';
import type { Fault } from '../ask.ts';
import { accountPage, type Answer, type MemberVisit, openPage, type Visit } from '../route.ts';
import { problemPage } from '../shell.tsx';
import { automaticPage, changeAutomatic, removeKeptCard } from './automatic.tsx';
import { numbersOf } from './invoiceNumbers.ts';
import { PaymentView } from './payment.tsx';
import { Billing } from './view.tsx';
import { words } from './words.ts';

const PAGE = 50;
// How often a page that waits reloads, after the payer has come back.
const RELOADS = 40;
const RELOAD_S = 2;

async function page(visit: MemberVisit, fault: Fault | null = null, amount = '100'): Promise<Answer> {
  const {
    services,
    account: { id },
    language,
    query,
  } = visit;
  const before = query.get('cursor') ?? '';
  const [account, payments, processor] = await Promise.all([
    readAccount(services.sql, id),
    paymentsOf(services.sql, { account: id, before: isId('pay', before) ? before : null, limit: PAGE + 1 }),
    paymentProcessor(services),
  ]);
  const next = payments.length > PAGE ? payments[PAGE - 1]!.id : null;
  const shown = { account: account!, payments: payments.slice(0, PAGE), next, isOff: processor === null };
  const view = <Billing {...{ language, query, fault, amount, ...shown }} />;
  return { status: fault === null ? 200 : 422, title: words[language].heading, view };
}

async function start(visit: MemberVisit): Promise<Answer> {
  const { services, form, language } = visit;
  const returnUrl = (id: string): string => `${services.panelUrl}/panel/paid/${id}`;
  const statement = form.get('statement');
  const typed = (form.get('amount') ?? '').slice(0, 100);
  const started =
    statement === undefined
      ? await startTopUp({ ...visit, input: { netGrosze: parsePln(typed) ?? NaN, language, returnUrl } })
      : await startStatementPayment({ ...visit, input: { statement, language, returnUrl } });
  if ('id' in started) return { to: `/panel/billing/${started.id}` };
  const { refused } = started;
  if (refused === 'company_data_missing') return { to: '/panel/company?next=/panel/billing' };
  const text = words[language].faults[refused];
  return page(visit, { field: statement === undefined ? 'amount' : null, text }, typed);
}

async function payment(visit: MemberVisit): Promise<Answer> {
  const {
    services,
    account,
    params: { id = '' },
    query,
    language,
  } = visit;
  const found = isId('pay', id) ? await readListedPayment(services.sql, account.id, id) : undefined;
  if (found === undefined) return problemPage(visit, 404);
  const returned = Number(query.get('returned') ?? 0);
  const isStarting = found.state === 'starting';
  const waits = isStarting || (found.state === 'open' && returned > 0);
  const reloads = isStarting
    ? Date.now() - found.createdAt.getTime() < RELOADS * RELOAD_S * 1_000
    : waits && returned < RELOADS;
  if (returned > 0) await lookOnReturn(services, id);
  const invoices = numbersOf(await invoicesOf(services.sql, account.id, [id]), id);
  const view = (
    <PaymentView
      {...{
        language,
        payment: found,
        invoices,
        waits,
        reloads,
        current: await readAccount(services.sql, account.id),
      }}
    />
  );
  const onward = `/panel/billing/${id}${returned > 0 ? `?returned=${returned + 1}` : ''}`;
  const headers = reloads ? { Refresh: `${RELOAD_S}; url=${onward}` } : {};
  return { status: 200, title: words[language].payment, view, headers };
}

/** Where the processor sends the payer: proves nothing, and works signed out. */
async function comeBack(visit: Visit): Promise<Answer> {
  const {
    services,
    params: { id = '' },
    session,
    language,
  } = visit;
  const say = words[language];
  if (session?.account && !session.owesFactor)
    return { to: `/panel/billing/${encodeURIComponent(id)}?returned=1` };
  if (isId('pay', id)) await lookOnReturn(services, id);
  const view = (
    <>
      <p>{say.returnedText}</p>
      <p>
        <a class="button" href="/panel">
          {say.toPanel}
        </a>
      </p>
    </>
  );
  return { status: 200, title: say.returned, view };
}

export const billingRoutes = [
  openPage('/panel/paid/:id', { get: comeBack }),
  accountPage('/panel/billing', PAYERS, { get: (visit) => page(visit), post: start }),
  accountPage('/panel/billing/automatic', PAYERS, {
    get: (visit) => automaticPage(visit),
    post: changeAutomatic,
    stepUp: true,
  }),
  accountPage('/panel/billing/automatic/card', PAYERS, { post: removeKeptCard }),
  accountPage('/panel/billing/:id', PAYERS, { get: payment }),
];
