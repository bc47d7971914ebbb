import type { EmailLimit } from '../../db/people/emailLimits.ts';
import { readFactors } from '../../db/people/factors.ts';
import { isOneLine } from '../../domain/ids.ts';
import { canonicalText, isBlank } from '../../domain/text.ts';
import {
  type Enrolled,
  enrolPasskey,
  enrolTotp,
  removeSecondFactor,
  renewRecoveryCodes,
} from '../../operations/people/factors.ts';
import { creationOptions, hasPasskeys } from '../../operations/people/passkeys.ts';
import { newTotpSecret, TOTP_SECRET, totpAddress } from '../../operations/people/totp.ts';
import type { Fault } from '../ask.ts';
import { PASSKEY_SCRIPT } from '../confirm/view.tsx';
import { cookieHeader } from '../cookies.ts';
import { timeIn } from '../language.ts';
import { type Answer, type PersonVisit, personPage, typedCode } from '../route.ts';
import { problemPage } from '../shell.tsx';
import { FactorList, NewApp, NewPasskey, RecoveryCodes } from './view.tsx';
import { words } from './words.ts';

const LIST = { to: '/panel/you/factors' };
const LABEL_MAX = 100;

async function listPage(visit: PersonVisit, fault: Fault | null = null): Promise<Answer> {
  const { services, session, language } = visit;
  const factors = await readFactors(services.sql, session.personId);
  const view = <FactorList {...{ language, factors, hasPasskeys: hasPasskeys(services), fault }} />;
  return { status: fault === null ? 200 : 422, title: words[language].heading, view };
}

type Mail = (typeof words)['pl']['renewed'];

/** A change of the person's factors, of which an e-mail tells. */
function changeOf({ session, address, requestId }: PersonVisit, email: Mail) {
  return { session, request: { address, requestId }, email };
}

function limitedFault({ language }: PersonVisit, { seconds }: EmailLimit): Fault {
  return { field: null, text: words[language].limited(timeIn(seconds)) };
}

/** Shows the key of a new app; with the code that this one shows, adds it. */
async function addApp(visit: PersonVisit): Promise<Answer> {
  const { services, session, form, language } = visit;
  const say = words[language];
  const given = form.get('secret') ?? '';
  const secret = TOTP_SECRET.test(given) ? given : newTotpSecret();
  const show = (fault: Fault | null): Answer => {
    const view = <NewApp {...{ language, secret, address: totpAddress(secret, session.address), fault }} />;
    return { status: fault === null ? 200 : 422, title: say.appHeading, view };
  };
  if (secret !== given) return show(null);
  const code = typedCode(visit);
  const outcome = await enrolTotp(services, changeOf(visit, say.added.totp), { secret, code });
  if (outcome === 'wrong') return show({ field: 'code', text: say.codeFault });
  if (outcome === 'taken') return show({ field: null, text: say.appTaken });
  if ('limited' in outcome) return show(limitedFault(visit, outcome));
  return enrolled(visit, outcome);
}

/** Asks for a new passkey; with the browser's response, adds it. */
async function addPasskey(visit: PersonVisit): Promise<Answer> {
  const { services, session, form, language } = visit;
  const say = words[language];
  const label = canonicalText(form.get('label') ?? '').trim();
  const response = form.get('response');
  const show = async (fault: Fault | null): Promise<Answer> => {
    const { passkeys } = await readFactors(services.sql, session.personId);
    const known = passkeys.map(({ id }) => id);
    const options = await creationOptions(services, session, known);
    const view = <NewPasskey {...{ language, label, options, fault }} />;
    const status = fault === null ? 200 : 422;
    return { status, title: say.passkeyHeading, view, script: PASSKEY_SCRIPT };
  };
  if (response === undefined) return await show(null);
  if (isBlank(label) || [...label].length > LABEL_MAX || !isOneLine(label))
    return await show({ field: 'label', text: say.labelFault });
  const outcome = await enrolPasskey(services, changeOf(visit, say.added.passkey), { label, response });
  if (outcome === 'wrong') return await show({ field: null, text: say.passkeyFault });
  if (outcome === 'taken') return await show({ field: null, text: say.passkeyTaken });
  if ('limited' in outcome) return await show(limitedFault(visit, outcome));
  return enrolled(visit, outcome);
}

function enrolled(visit: PersonVisit, { token, recoveryCodes }: Enrolled): Answer {
  const cookies = [cookieHeader(visit.services.panelUrl, 'session', token, null)];
  return recoveryCodes === null ? { ...LIST, cookies } : { ...codesPage(visit, recoveryCodes), cookies };
}

/** New recovery codes, this once: only their hashes are stored. */
function codesPage({ language }: PersonVisit, codes: readonly string[]): Answer {
  const view = <RecoveryCodes {...{ language, codes }} />;
  return { status: 200, title: words[language].codesHeading, view };
}

async function renewCodes(visit: PersonVisit): Promise<Answer> {
  const { services, language } = visit;
  const outcome = await renewRecoveryCodes(services, changeOf(visit, words[language].renewed));
  if (outcome === null) return LIST;
  return 'limited' in outcome
    ? await listPage(visit, limitedFault(visit, outcome))
    : codesPage(visit, outcome);
}

async function remove(visit: PersonVisit): Promise<Answer> {
  const factor = visit.form.get('factor') ?? '';
  const kind = factor === 'totp' ? 'totp' : 'passkey';
  const change = changeOf(visit, words[visit.language].removed[kind]);
  const removed = await removeSecondFactor(visit.services, change, kind === 'totp' ? null : factor);
  return removed ? LIST : problemPage(visit, 404);
}

// Who comes back to a form begins anew.
const get = () => LIST;

export const factorRoutes = [
  personPage('/panel/you/factors', { get: (visit) => listPage(visit) }),
  personPage('/panel/you/factors/totp', { get, post: addApp, stepUp: true }),
  personPage('/panel/you/factors/passkey', { get, post: addPasskey, stepUp: true }),
  personPage('/panel/you/factors/recovery', { get, post: renewCodes, stepUp: true }),
  personPage('/panel/you/factors/remove', { get, post: remove, stepUp: true }),
];
