import { changeAccount } from '../../api/account/account.ts';
import { readAccountDetails } from '../../db/accounts/staff.ts';
import { MANAGERS, ROLES } from '../../domain/actor.ts';
import { quotaUsage } from '../../operations/accounts/quotas.ts';
import { ask, type Fault, faultOf } from '../ask.ts';
import { accountPage, type Answer, type MemberVisit } from '../route.ts';
import { Settings, type Typed } from './view.tsx';
import { words } from './words.ts';

const PATH = '/panel/settings';

async function page(visit: MemberVisit, sent?: Typed, fault: Fault | null = null): Promise<Answer> {
  const { services, language } = visit;
  const { id, role } = visit.account;
  const [details, quotas] = await Promise.all([
    readAccountDetails(services.sql, id),
    quotaUsage(services.sql, id),
  ]);
  const account = details!;
  const typed = sent ?? {
    send_window: account.sendWindow ?? '',
    inbound_prefix: account.inboundPrefix ?? '',
    tool_confirm_recipients: String(account.toolConfirmRecipients ?? ''),
    tool_confirm_grosze: String(account.toolConfirmGrosze ?? ''),
  };
  const { MCP_CONFIRM_RECIPIENTS: recipients, MCP_CONFIRM_GROSZE: grosze } = services.settings;
  const assistants = {
    ...{ recipients, grosze },
    url: `${services.mcpUrl ?? services.publicUrl ?? services.panelUrl}/mcp`,
  };
  const manages = MANAGERS.includes(role);
  const view = <Settings {...{ language, account, quotas, assistants, manages, typed, fault }} />;
  return { status: fault === null ? 200 : 422, title: words[language].heading, view };
}

/** Empty clears a setting; what is no number is left to the API to refuse. */
const numberIn = (text: string) => (text === '' ? null : /^[0-9]{1,9}$/.test(text) ? Number(text) : text);

async function change(visit: MemberVisit): Promise<Answer> {
  const { form, language } = visit;
  const field = (name: keyof Typed) => (form.get(name) ?? '').trim();
  const typed = {
    send_window: field('send_window'),
    inbound_prefix: field('inbound_prefix'),
    tool_confirm_recipients: field('tool_confirm_recipients'),
    tool_confirm_grosze: field('tool_confirm_grosze'),
  };
  const body = {
    send_window: typed.send_window === '' ? null : typed.send_window,
    inbound_prefix: typed.inbound_prefix === '' ? null : typed.inbound_prefix,
    tool_confirm_recipients: numberIn(typed.tool_confirm_recipients),
    tool_confirm_grosze: numberIn(typed.tool_confirm_grosze),
  };
  try {
    await ask(visit, changeAccount, { body });
    return { to: PATH };
  } catch (thrown) {
    return page(visit, typed, faultOf(language, thrown));
  }
}

export const settingRoutes = [
  accountPage(PATH, ROLES, { get: (visit) => page(visit) }),
  accountPage(`${PATH}/change`, MANAGERS, { post: change }),
];
