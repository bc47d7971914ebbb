import type { AccountDetails } from '../../db/accounts/staff.ts';
import { QUOTA_NAMES } from '../../domain/money.ts';
import type { quotaUsage } from '../../operations/accounts/quotas.ts';
import type { Fault } from '../ask.ts';
import { count, type Language, pln } from '../language.ts';
import { Copy, Facts, Field, Summary, Table } from '../parts.tsx';
import { words } from './words.ts';

/** The form as it was sent, or as it is. */
export interface Typed {
  send_window: string;
  inbound_prefix: string;
  tool_confirm_recipients: string;
  tool_confirm_grosze: string;
}

interface Props {
  language: Language;
  account: AccountDetails;
  quotas: Awaited<ReturnType<typeof quotaUsage>>;
  assistants: {
    /** Of the MCP server. */
    url: string;
    /** Of the installation: an account may be stricter. */
    recipients: number;
    grosze: number;
  };
  /** Whether the person may change settings. */
  manages: boolean;
  typed: Typed;
  fault: Fault | null;
}

export function Settings({ language, account, quotas, assistants, manages, typed, fault }: Props) {
  const say = words[language];
  return (
    <>
      <Summary language={language} fault={fault} />
      <section>
        <h2>{say.account}</h2>
        <About language={language} account={account} />
        <p class="hint">{say.accountHint}</p>
      </section>
      <section>
        <h2>{say.change}</h2>
        {manages ? <Form {...{ language, account, assistants, typed, fault }} /> : <p>{say.notYours}</p>}
      </section>
      <section>
        <h2>{say.assistants}</h2>
        <p>{say.assistantsText}</p>
        <pre>
          <code id="mcp">{assistants.url}</code>
        </pre>
        <Copy language={language} of="mcp" />
      </section>
      <section>
        <h2>{say.limits}</h2>
        <Table label={say.limits} columns={say.columns}>
          {QUOTA_NAMES.map((name) => (
            <tr>
              <th scope="row">{say.quotas[name]}</th>
              <td>{count(language, quotas[name].used)}</td>
              <td>{count(language, quotas[name].limit)}</td>
            </tr>
          ))}
        </Table>
        <p class="hint">{say.limitsHint}</p>
      </section>
    </>
  );
}

function About({ language, account }: Pick<Props, 'language' | 'account'>) {
  const say = words[language];
  const { id, name, mode, billingMode, contactEmail, inboundNumber, rateLimitPerMinute } = account;
  const rows: readonly (readonly [string, string])[] = [
    [say.name, name],
    [say.id, id],
    [say.mode, say.modes[mode]],
    [say.billing, say.billingModes[billingMode]],
    [say.contact, contactEmail ?? say.noContact],
    [say.inbound, inboundNumber ?? say.noInbound],
    [say.rate, count(language, rateLimitPerMinute)],
  ];
  return <Facts rows={rows} />;
}

function Form({
  language,
  account: { inboundNumber },
  assistants,
  typed,
  fault,
}: Omit<Props, 'quotas' | 'manages'>) {
  const say = words[language];
  const most = {
    recipients: count(language, assistants.recipients),
    grosze: `${count(language, assistants.grosze)} (${pln(language, assistants.grosze)})`,
  };
  const field = (name: keyof Typed, label: string, hint: string) => (
    <Field {...{ name, label, hint, fault }} value={typed[name]} />
  );
  return (
    <form method="post" action="/panel/settings/change" class="stack" noValidate>
      {field('send_window', say.window, say.windowHint)}
      {field('inbound_prefix', say.keyword, inboundNumber === null ? say.noKeywordHint : say.keywordHint)}
      {field('tool_confirm_recipients', say.recipients, say.most(most.recipients))}
      {field('tool_confirm_grosze', say.grosze, say.most(most.grosze))}
      <button>{say.save}</button>
    </form>
  );
}
