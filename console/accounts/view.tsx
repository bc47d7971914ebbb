import type { ComponentChildren } from 'preact';
import type { AccountDetails } from '../../db/accounts/staff.ts';
import type { StaffRole } from '../../domain/staff.ts';
import type { AccountView } from '../../operations/support/accountView.ts';
import { count, moment, pln } from '../../panel/language.ts';
import { Facts, Figure, Listing, NameFilter } from '../../panel/parts.tsx';
import { commandPath, mayAsk } from '../commands/offered.ts';
import { Id, Result } from '../commands/result.tsx';
import { VISITORS } from '../menu.ts';

const PATH = '/console/accounts';

interface ListProps {
  rows: readonly AccountDetails[];
  query: URLSearchParams;
  next: string | null;
}

export function AccountList({ rows, query, next }: ListProps) {
  const page = { language: 'en', path: PATH, query, next } as const;
  return (
    <>
      <NameFilter {...page} />
      <Listing
        {...page}
        label="Accounts"
        columns={['Name', 'Account', 'Status', 'Mode', 'Balance', 'Since']}
        none="There is none."
        rows={rows.map(({ id, name, status, mode, balanceGrosze, createdAt }) => (
          <tr>
            <th scope="row" class="text">
              {name}
            </th>
            <td>
              <Id id={id} />
            </td>
            <td>{status}</td>
            <td>{mode}</td>
            <td>{pln('en', balanceGrosze)}</td>
            <td>{moment('en', createdAt)}</td>
          </tr>
        ))}
      />
    </>
  );
}

interface AccountProps {
  account: AccountView;
  role: StaffRole;
}

interface PageProps extends AccountProps {
  /** Asks why everything is to be shown. */
  reveal: ComponentChildren;
  /** At the end. */
  children: ComponentChildren;
}

export function Account({ account, role, reveal, children }: PageProps) {
  const { senders, senderRequests, verifiedNumbers, keys, tokens, people, findings, audit } = account;
  const { unpaidStatements, payments, webhooks, countryRates, quotas } = account;
  const lists = {
    findings,
    ratesByCountry: Object.entries(countryRates).map(([prefix, prices]) => ({ prefix, ...prices })),
    quotas: Object.entries(quotas).map(([quota, { used, limit }]) => ({ quota, used, limit })),
    ...{ keys, tokens, people, senders, senderRequests, verifiedNumbers },
    ...{ undeliveredEvents: webhooks, payments, unpaidStatements, latestActs: audit },
  };
  return (
    <>
      <p>
        <span class={account.status === 'active' ? 'badge' : 'badge bad'}>{account.status}</span>{' '}
        <span class="badge">{account.mode}</span> <code>{account.id}</code>
      </p>
      <Money {...{ account, role }} />
      <Status {...{ account, role }} />
      <Settings account={account} />
      {reveal}
      <Result shown={{ result: lists }} />
      {children}
    </>
  );
}

function Money({ account, role }: AccountProps) {
  const { balanceGrosze, availableGrosze, runwayDays, waitingGrosze, testCredits } = account;
  const about = { account: account.id };
  return (
    <section>
      <dl class="figures">
        <Figure name="Balance, net" value={pln('en', balanceGrosze)} />
        <Figure name="Available" value={pln('en', availableGrosze)} />
        <Figure name="Charged for what waits" value={pln('en', waitingGrosze)} />
        <Figure name="Test credits" value={count('en', testCredits)} />
        {runwayDays === null ? null : <Figure name="Lasts, days" value={count('en', runwayDays)} />}
      </dl>
      <p>
        <a href={commandPath('ledger', { ...about, show: 'yes' })}>Ledger</a>,{' '}
        <a href={commandPath('statements list', { ...about, show: 'yes' })}>statements</a>,{' '}
        <a href={commandPath('audit', { ...about, show: 'yes' })}>audit log</a>
        {VISITORS.includes(role) ? (
          <>
            , <a href={`/console/accounts/${account.id}/visit`}>as the customer sees it</a>
          </>
        ) : null}
      </p>
    </section>
  );
}

const CHANGES = [
  ['suspended', 'Suspend', 'wait until it is active again, or expire and are refunded'],
  ['closed', 'Close for ever', 'are cancelled and refunded'],
  ['active', 'Make active', 'go, those within their time'],
] as const;

/** What a change of its status would meet, counted. */
function Status({ account, role }: AccountProps) {
  const { id, status, waitingMessages, waitingEmails, waitingGrosze, more, validKeys, pendingEvents } =
    account;
  if (status === 'closed') return null;
  const waiting = `${more ? 'More than ' : ''}${count('en', waitingMessages)} messages and ${count('en', waitingEmails)} e-mails that were not submitted (${pln('en', waitingGrosze)})`;
  return (
    <section>
      <h2>Status</h2>
      <ul class="rows">
        {CHANGES.filter(([to]) => to !== status).map(([to, name, happens]) => (
          <li>
            {mayAsk(role, 'accounts set') ? (
              <a href={commandPath('accounts set', { account: id, status: to })}>{name}</a>
            ) : (
              <>
                {name}: <span class="hint">your role does not do this</span>
              </>
            )}
            : {waiting} {happens}
            {to === 'active' ? '.' : `; keys and tokens that get 403: ${count('en', validKeys)}.`}
          </li>
        ))}
      </ul>
      <p>Webhook events on their way, which are still delivered: {count('en', pendingEvents)}.</p>
    </section>
  );
}

function Settings({ account }: Pick<AccountProps, 'account'>) {
  const { billingMode, creditLimitGrosze, company } = account;
  const price = (grosze: number) => pln('en', grosze);
  return (
    <section>
      <h2>Settings</h2>
      <Facts
        rows={[
          [
            'Billing',
            billingMode === 'prepaid' ? 'prepaid' : `postpaid, down to ${price(0 - creditLimitGrosze)}`,
          ],
          ['SMS, per part', price(account.pricePerPartGrosze)],
          ['MMS', price(account.pricePerMmsGrosze)],
          ['Voice', price(account.pricePerVmsGrosze)],
          ['Look-up', price(account.pricePerHlrGrosze)],
          ['Requests per minute', count('en', account.rateLimitPerMinute)],
          ['Default sender', account.senderName],
          ['Sending hours', account.sendWindow],
          ['Contact address', account.contactEmail],
          ['Company', company === null ? null : company.name],
          ['Receives replies on', account.inboundNumber],
          ['Keyword', account.inboundPrefix],
          ['Webhook', account.webhookUrl],
          ['Webhook of v1.2.0', account.legacyWebhookUrl],
          ['Former secret signs until', account.formerSecretUntil && moment('en', account.formerSecretUntil)],
          ['Undelivered events', count('en', account.failingEvents)],
        ]}
      />
    </section>
  );
}
