import { describe, expect, test } from 'vitest';
import { endpoints } from '../../api/endpoints.ts';
import { earlierEndpoints } from '../../api/v1_2/endpoints.ts';
import { ALL_COMMANDS } from '../../bin/admin/program.ts';
import { callsOf, filesUnder, NO_TEXT, reachedFrom, textOf } from './reached.ts';

/**
 * How a command or an endpoint is answered: by these operations (`file#name` in `operations/`), or by reading alone.
 */
type Answered = readonly string[] | 'reads';

const COMMANDS: Readonly<Record<string, Answered>> = {
  'accounts create': ['accounts/create#createAccount'],
  'accounts show': 'reads',
  'accounts list': 'reads',
  'accounts set': ['accounts/change#changeAccount'],
  'accounts quotas': ['accounts/quotas#changeQuotas'],
  'keys create': ['accounts/keys#createKey'],
  'keys revoke': ['accounts/keys#revokeKey'],
  'keys budget': ['accounts/keys#changeToolBudget'],
  'keys list': 'reads',
  'tokens create': ['accounts/tokens#createToken'],
  'tokens rotate': ['accounts/tokens#rotateToken'],
  'tokens revoke': ['accounts/tokens#revokeToken'],
  'tokens list': 'reads',
  'senders add': ['accounts/senders#addSender'],
  'senders remove': ['accounts/senders#removeSender'],
  'senders list': 'reads',
  'numbers verify': ['accounts/verifiedNumbers#verifyNumber'],
  'numbers remove': ['accounts/verifiedNumbers#forgetVerifiedNumber'],
  'numbers list': 'reads',
  'domains add': ['email/domains/add#addDomain'],
  'domains list': ['email/domains/list#listDomains'],
  'domains check': ['email/domains/check#checkDomain'],
  'domains remove': ['email/domains/remove#removeDomain'],
  'domains confirm': ['email/domains/confirm#confirmDomain'],
  'domains default': ['email/domains/setDefault#setDefaultDomain'],
  topup: ['money/topUp#topUp'],
  adjust: ['money/adjust#adjustBalance'],
  ledger: 'reads',
  'statements issue': ['money/statements#issueStatement'],
  'statements pay': ['money/statements#payStatement'],
  'statements send': ['money/statements#sendStatement'],
  'statements list': 'reads',
  'inbound enable': ['accounts/inbound#enableInbound'],
  'inbound disable': ['accounts/inbound#disableInbound'],
  'inbound unmatched': 'reads',
  'inbound allow-keyword': ['accounts/keywords#allowKeyword'],
  'inbound revoke-keyword': ['accounts/keywords#revokeKeyword'],
  'inbound release-keyword': ['accounts/keywords#releaseKeyword'],
  'inbound keywords': 'reads',
  'routes list': 'reads',
  'routes show': 'reads',
  'routes add': ['routes/add#addRoute'],
  'routes change': ['routes/change#changeRoute'],
  'routes credentials': ['routes/credentials#replaceCredentials'],
  'routes remove': ['routes/remove#removeRoute'],
  'routes enable': ['routes/states#enableRoute'],
  'routes drain': ['routes/states#drainRoute'],
  'routes disable': ['routes/states#disableRoute'],
  'routes callbacks': ['routes/callbacks#handOutCallbacks'],
  'routes test': ['routes/trial#tryRoute'],
  'routes rules add': ['routes/rules#addRule'],
  'routes rules remove': ['routes/rules#removeRule'],
  'routes rules list': 'reads',
  'routes which': ['routes/which#whichRoutes'],
  'messages show': 'reads',
  'messages unanswered': 'reads',
  'messages resubmit': ['support/decisions#resubmit', 'support/decisions#resubmitAll'],
  'messages give-up': ['support/decisions#giveUp'],
  'messages settle': ['support/settle#settle'],
  'messages cancel': ['cancel#cancelForStaff'],
  'messages cancel-all': ['support/unstick#cancelMany'],
  'emails show': 'reads',
  'emails list': 'reads',
  'emails give-up': ['support/settle#giveUpEmailForStaff'],
  'findings list': 'reads',
  'findings dismiss': ['support/settle#dismissFinding'],
  'webhooks list': 'reads',
  'webhooks resend': ['webhooks/resend#resendExhausted', 'webhooks/resend#resendForStaff'],
  'webhooks end-previous-secret': ['webhooks/previousSecret#endPreviousSecret'],
  'webhooks legacy': ['webhooks/configureLegacy#configureLegacyWebhook'],
  stuck: 'reads',
  unstick: ['support/unstick#unstick'],
  'simulator reply': ['support/simulateReply#simulateReply'],
  erase: ['support/erase#erase', 'support/erase#eraseAddress'],
  'secrets rotate': ['support/rotateSecrets#rotateSecrets'],
  audit: 'reads',
};

const ENDPOINTS: Readonly<Record<string, Answered>> = {
  'POST /v1/messages': ['sending/send#send'],
  'POST /v1/mms': ['sending/send#send'],
  'POST /v1/voice': ['sending/send#send'],
  'POST /v1/messages/estimate': ['sending/plan#planMessages'],
  'POST /v1/mms/estimate': ['sending/plan#planMessages'],
  'POST /v1/voice/estimate': ['sending/plan#planMessages'],
  'GET /v1/messages': 'reads',
  'GET /v1/messages/:id': 'reads',
  'GET /v1/messages/:id/events': 'reads',
  'DELETE /v1/messages/:id': ['cancel#cancel'],
  'GET /v1/account': 'reads',
  'PATCH /v1/account': ['settings#changeSettings'],
  'GET /v1/senders': ['senders#listSenders'],
  'PUT /v1/account/webhook': ['webhooks/configure#configureWebhook'],
  'GET /v1/account/webhook/deliveries': 'reads',
  'POST /v1/account/webhook/deliveries/:id/resend': ['webhooks/resend#resend'],
  'GET /v1/blacklist': 'reads',
  'POST /v1/blacklist': ['blacklist#extendBlacklist'],
  'DELETE /v1/blacklist/:msisdn': ['blacklist#shortenBlacklist'],
  'GET /v1/templates': 'reads',
  'POST /v1/templates': ['templates#createTemplate'],
  'GET /v1/templates/:id': 'reads',
  'PATCH /v1/templates/:id': ['templates#changeTemplate'],
  'DELETE /v1/templates/:id': ['templates#deleteTemplate'],
  'GET /v1/numbers/:msisdn/lookup': ['lookUp#lookUp'],
  'GET /v1/inbound': ['replies#listReplies'],
  'GET /v1/inbound/:id': 'reads',
  'GET /v1/links': 'reads',
  'GET /v1/links/:token': 'reads',
  'GET /v1/reports': ['reports/report#report'],
  'GET /v1/contacts': 'reads',
  'POST /v1/contacts': ['addressBook/contacts#saveContact', 'addressBook/importContacts#importContacts'],
  'GET /v1/contacts/:id': 'reads',
  'PATCH /v1/contacts/:id': ['addressBook/contacts#changeContact'],
  'DELETE /v1/contacts/:id': ['addressBook/contacts#deleteContact'],
  'GET /v1/groups': 'reads',
  'POST /v1/groups': ['addressBook/groups#createGroup'],
  'GET /v1/groups/:id': 'reads',
  'PATCH /v1/groups/:id': ['addressBook/groups#renameGroup'],
  'DELETE /v1/groups/:id': ['addressBook/groups#deleteGroup'],
  'POST /v1/groups/:id/contacts': ['addressBook/members#addMembers'],
  'DELETE /v1/groups/:id/contacts/:contactId': ['addressBook/members#removeMember'],
  'GET /v1/health': 'reads',
  'GET /v1/openapi.json': 'reads',
  'POST /v1/email': ['email/send#sendEmail'],
  'GET /v1/email': 'reads',
  'GET /v1/email/:id': 'reads',
  'GET /v1/email/suppressions': 'reads',
  'POST /v1/email/suppressions': ['email/suppressions#addSuppressions'],
  'DELETE /v1/email/suppressions/:address': ['email/suppressions#removeSuppression'],
  'v1 POST /v1/email': ['email/send#sendEmail'],
  'v1 GET /v1/email': 'reads',
  'v1 GET /v1/email/:id': 'reads',
  'v1 GET /v1/email/suppressions': 'reads',
  'v1 POST /v1/email/suppressions': ['email/suppressions#addSuppressions'],
  'v1 DELETE /v1/email/suppressions/:address': ['email/suppressions#removeSuppression'],
  'v1 POST /v1/sms': ['sending/send#send'],
  'v1 POST /v1/sms/bulk': ['sending/send#send', 'sending/sendItems#sendItems'],
  'v1 POST /v1/mms': ['sending/send#send'],
  'v1 POST /v1/vms': ['sending/send#send'],
  'v1 GET /v1/messages': 'reads',
  'v1 GET /v1/hlr': ['lookUp#lookUp'],
  'v1 GET /v1/balance': ['accounts/upstreamBalance#upstreamBalance'],
  'v1 GET /v1/openapi-1.2.json': 'reads',
};

/** What both the command line and the REST interface can do: the operation's file, and who asks it, also through another one. */
const BOTH: Readonly<Record<string, { commands: readonly string[]; endpoints: readonly string[] }>> = {
  // A scheduled message is cancelled; so are those to a number that is erased.
  cancel: {
    commands: ['erase', 'messages cancel', 'messages cancel-all', 'unstick'],
    endpoints: ['DELETE /v1/messages/:id'],
  },
  // A webhook event is delivered again.
  'webhooks/resend': {
    commands: ['unstick', 'webhooks resend'],
    endpoints: ['POST /v1/account/webhook/deliveries/:id/resend'],
  },
  // Default sender and sending hours are set.
  settings: { commands: ['accounts set'], endpoints: ['PATCH /v1/account'] },
};

/** What operations and doors share that is nothing to ask for: looking things up (also in Temporal), waiting, constants. */
const AIDS = [
  /^accounts\/find#/,
  /^accounts\/quotas#keptOf$/,
  /^routes\/(find|settings|uses)#/,
  /^support\/(workflow|workflowStates|stuckWorkflows)#/,
  /^(outages|pace|quotas|staff)#/,
  /^webhooks\/newSecret#/,
  /^addressBook\/groups#unknownGroup$/,
  /^sending\/idempotency#(fingerprintOf|keyedBy)$/,
  /^sending\/plan#(totalCost|isAffordable)$/,
  /#[A-Z][A-Z_]*$/,
];
/** Functions of `db/` that change nothing, and constants. */
const READING = /#(read|list|has|is|linksOf|statusesOf|byColumnName$|ping$|[A-Z])/;

interface Door {
  stated: Readonly<Record<string, Answered>>;
  /** By name, what it reaches in `operations/` and `db/` itself, and what also through operations. */
  found: ReadonlyMap<string, { directly: Set<string>; inAll: Set<string> }>;
}

function door(
  stated: Door['stated'],
  folder: string,
  callee: string,
  namesOf: (text: (property: string) => string | undefined) => string[],
): Door {
  const found = new Map(
    filesUnder(folder).flatMap((file) =>
      callsOf(file, callee).flatMap((declared) => {
        const reached = {
          directly: reachedFrom(file, declared),
          inAll: reachedFrom(file, declared, ['operations']),
        };
        const names = namesOf((property) => textOf(file, declared, property));
        return names.map((name): [string, typeof reached] => [name, reached]);
      }),
    ),
  );
  return { stated, found };
}

/** An endpoint of the earlier interface is named with its interface. */
function endpointName(of: {
  interface?: string | undefined;
  method?: string | undefined;
  path?: string | undefined;
}): string {
  return `${of.interface === 'v1' ? 'v1 ' : ''}${of.method} ${of.path}`;
}

const commands = door(COMMANDS, 'bin/admin', 'command', (text) => [String(text('name'))]);
const rest = door(ENDPOINTS, 'api', 'endpoint', (text) => {
  const [method, path] = [text('method'), text('path')];
  // Where the interface is left to whoever asks for the endpoint, both have it.
  const of = text('interface') === NO_TEXT ? ['v1', undefined] : [text('interface')];
  return of.map((one) => endpointName({ interface: one, method, path }));
});

/** Of what is reached, what can be asked for: `file#name` without folder and ending. */
function operationsAmong(reached: ReadonlySet<string>): string[] {
  return [...reached]
    .filter((reference) => reference.startsWith('operations/'))
    .map((reference) => reference.replace(/^operations\//, '').replace('.ts#', '#'))
    .filter((reference) => !AIDS.some((aid) => aid.test(reference)))
    .sort();
}

test('every command and every endpoint is stated, and found in the code', () => {
  const named = ALL_COMMANDS.map(({ name }) => name).sort();
  const offered = [...endpoints, ...earlierEndpoints].map(endpointName).sort();
  expect(Object.keys(COMMANDS).sort()).toEqual(named);
  expect([...commands.found.keys()].sort()).toEqual(named);
  expect(Object.keys(ENDPOINTS).sort()).toEqual(offered);
  expect([...rest.found.keys()].sort()).toEqual(offered);
});

describe.each([
  ['command', commands],
  ['endpoint', rest],
])('each %s', (_, { stated, found }) => {
  test.each(Object.entries(stated))('%s asks what is stated, and nothing else', (name, answered) => {
    const { directly } = found.get(name)!;
    expect(operationsAmong(directly)).toEqual(typeof answered === 'string' ? [] : answered);
    if (answered !== 'reads') return;
    const writing = [...directly].filter((one) => one.startsWith('db/') && !READING.test(one));
    expect(writing, 'a plain read').toEqual([]);
  });
});

test('a command that changes something has an operation do it, which writes the audit record', () => {
  const asking = ALL_COMMANDS.filter((command) => 'ask' in command).map(({ name }) => name);
  const stated = Object.entries(COMMANDS).filter(([, answered]) => typeof answered !== 'string');
  expect(asking.sort()).toEqual(stated.map(([name]) => name).sort());
});

test('an endpoint that changes something has an operation do it', () => {
  const changing = Object.entries(ENDPOINTS).filter(([name]) => !/^(v1 )?GET /.test(name));
  expect(changing.filter(([, answered]) => typeof answered === 'string')).toEqual([]);
});

test('what both doors can do is one operation, and what is one operation is stated for both', () => {
  const filesOf = (of: Door, name: string): Set<string> =>
    new Set(operationsAmong(of.found.get(name)!.inAll).map((one) => one.replace(/#.*/, '')));
  const askersOf = (of: Door, file: string): string[] =>
    Object.keys(of.stated)
      .filter((name) => filesOf(of, name).has(file))
      .sort();
  const files = new Set(Object.keys(COMMANDS).flatMap((name) => [...filesOf(commands, name)]));
  const shared = [...files].filter((file) => askersOf(rest, file).length > 0);
  const found = shared.map((file) => [
    file,
    { commands: askersOf(commands, file), endpoints: askersOf(rest, file) },
  ]);
  expect(Object.fromEntries(found)).toEqual(BOTH);
});
