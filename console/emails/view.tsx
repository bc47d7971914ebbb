import { printable } from '../../commands/output.ts';
import type { StaffRole } from '../../domain/staff.ts';
import type { EmailView } from '../../operations/support/emailView.ts';
import type { Fault } from '../../panel/ask.ts';
import { moment, pln } from '../../panel/language.ts';
import { Facts, Summary, Table } from '../../panel/parts.tsx';
import { Id } from '../commands/result.tsx';
import { Acts, Deliveries, Timeline, Workflow } from '../messages/way.tsx';
import { Reveal } from '../reason.tsx';

interface Props {
  email: EmailView;
  /** The addresses are in full. */
  whole: boolean;
  role: StaffRole;
  path: string;
  url: string | null;
  fault: Fault | null;
}

export function Email({ email, whole, role, path, url, fault }: Props) {
  const { status, reason, accountId, acts, workflow, timeline, deliveries, recipients } = email;
  return (
    <>
      <Summary language="en" fault={fault} />
      <p>
        <span class="badge">{status}</span> {reason === null ? null : printable(reason)}
      </p>
      {whole ? null : <Reveal {...{ role, fault }} to={path} what="addresses and answers" />}
      <Table label="Recipients" columns={['Recipient', 'As', 'State']}>
        {recipients.map(({ kind, address, state }) => (
          <tr>
            <td class="text">{printable(address)}</td>
            <td>{kind}</td>
            <td>{state}</td>
          </tr>
        ))}
      </Table>
      <About email={email} />
      <Acts {...{ acts, accountId, role }} />
      <Workflow {...{ workflow, url }} fault={email.fault} />
      <Timeline timeline={timeline} />
      <Deliveries deliveries={deliveries} />
    </>
  );
}

function About({ email }: { email: EmailView }) {
  const { accountId, requestId, route, domain, providerId, submission, attachments } = email;
  return (
    <Facts
      rows={[
        ['Account', <Id id={accountId} />],
        ['Request', <code>{requestId}</code>],
        ['From the domain', domain],
        ['Route', route],
        ['Id at the provider', providerId === null ? null : printable(providerId)],
        ['Submission', submission],
        ['Price', pln('en', email.costGrosze)],
        ['Files', String(attachments)],
        ['Submitted until', moment('en', email.giveUpAt)],
        ['Erased', email.erasedAt === undefined ? null : moment('en', email.erasedAt)],
      ]}
    />
  );
}
