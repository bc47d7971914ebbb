import { printable } from '../../commands/output.ts';
import type { StaffRole } from '../../domain/staff.ts';
import type { MessageView } from '../../operations/support/messageView.ts';
import type { Fault } from '../../panel/ask.ts';
import { moment, pln } from '../../panel/language.ts';
import { StatusBadge } from '../../panel/messages/status.tsx';
import { Facts, Summary, Table } from '../../panel/parts.tsx';
import { Id } from '../commands/result.tsx';
import { Reveal } from '../reason.tsx';
import { Acts, Deliveries, Timeline, Workflow } from './way.tsx';

interface Props {
  message: MessageView;
  role: StaffRole;
  path: string;
  url: string | null;
  fault: Fault | null;
}

const moments = (at: Date | null = null) => (at === null ? null : moment('en', at));

export function Message({ message, role, path, url, fault }: Props) {
  const { status, reason, text, accountId, acts, workflow, timeline, deliveries, links } = message;
  return (
    <>
      <Summary language="en" fault={fault} />
      <p>
        <StatusBadge language="en" status={status} /> {reason}
      </p>
      {text === undefined ? (
        <Reveal {...{ role, fault }} to={path} what="number, text and bodies" />
      ) : (
        <p class="bubble">{text}</p>
      )}
      <About message={message} />
      <Acts {...{ acts, accountId, role }} />
      <Workflow {...{ workflow, url }} fault={message.fault} />
      <Parts parts={message.partStates} />
      <Timeline timeline={timeline} />
      <Deliveries deliveries={deliveries} />
      {links.length === 0 ? null : (
        <Table label="Links" columns={['Link', 'Clicks', 'Leads to']}>
          {links.map((link) => (
            <tr>
              <td>{link.token}</td>
              <td>{link.clicks}</td>
              <td class="text">{link.url ?? '–'}</td>
            </tr>
          ))}
        </Table>
      )}
    </>
  );
}

function About({ message }: { message: MessageView }) {
  const { accountId, requestId, from, to, parts, route, costGrosze, priority, reference } = message;
  return (
    <Facts
      rows={[
        ['To', to],
        ['From', from],
        ['Account', <Id id={accountId} />],
        ['Request', <code>{requestId}</code>],
        ['Reference', reference],
        ['Parts', String(parts)],
        ['Route', `${route}${priority ? ', with priority' : ''}`],
        ['Submission', message.submission],
        ['Price', pln('en', costGrosze)],
        ['Send time', moments(message.sendAt)],
        ['Expires', moments(message.expiresAt)],
        ['Followed until', moments(message.giveUpAt)],
        ['Waits for its account since', moments(message.pausedSince)],
      ]}
    />
  );
}

function Parts({ parts }: { parts: MessageView['partStates'] }) {
  if (parts.length === 0) return null;
  const columns = ['Part', 'State', 'Tries', 'Route', 'Id at the provider', 'Its answer', 'Report'];
  return (
    <section>
      <h2>Parts</h2>
      <Table label="Parts" columns={columns}>
        {parts.map(({ part, state, tries, route, providerMessageId, meaning, reportState, reportedAt }) => (
          <tr>
            <td>{part}</td>
            <td>{state}</td>
            <td>{tries}</td>
            <td>{route}</td>
            <td class="text">{printable(providerMessageId ?? '–')}</td>
            <td class="text">{printable(meaning ?? '–')}</td>
            <td>{reportState === null ? '–' : `${reportState}, ${moments(reportedAt)}`}</td>
          </tr>
        ))}
      </Table>
    </section>
  );
}
