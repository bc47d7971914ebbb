import { MANAGERS } from '../../domain/actor.ts';
import { listVerifiedNumbers } from '../../db/accounts/staff.ts';
import { readOwnCode } from '../../db/verifications/ownNumbers.ts';
import { parseMsisdn, withoutSeparators } from '../../domain/msisdn.ts';
import { forgetVerifiedNumber, MAX_VERIFIED } from '../../operations/accounts/senders.ts';
import { confirmNumber, requestNumberCode } from '../../operations/people/ownNumbers.ts';
import { asking, requireActive } from '../ask.ts';
import { timeIn } from '../language.ts';
import { accountPage, type Answer, type MemberVisit, typedCode } from '../route.ts';
import { Numbers, type Typed } from './view.tsx';
import { words } from './words.ts';

async function page(visit: MemberVisit, typed: Typed = { to: '', fault: null }): Promise<Answer> {
  const { services, account, caller, language } = visit;
  const [numbers, pending] = await Promise.all([
    listVerifiedNumbers(services.sql, account.id),
    readOwnCode(services.sql, caller.actor, null),
  ]);
  // The code may be over by now.
  const fault =
    typed.fault?.field === 'code' && pending === undefined ? { ...typed.fault, field: null } : typed.fault;
  const mayAdd = services.ownEmailAccount !== null && numbers.length < MAX_VERIFIED;
  const shown = { numbers, pending: pending ?? null, mayAdd, isOff: services.ownEmailAccount === null };
  const view = <Numbers {...{ language, mode: account.mode, typed: { ...typed, fault }, ...shown }} />;
  return { status: typed.fault === null ? 200 : 422, title: words[language].heading, view };
}

async function ask(visit: MemberVisit): Promise<Answer> {
  const { form, language, network } = visit;
  const say = words[language];
  requireActive(visit);
  const typed = form.get('to')?.slice(0, 100) ?? '';
  const to = parseMsisdn(withoutSeparators(typed));
  const asked =
    to === null
      ? 'not_mobile'
      : await requestNumberCode({ ...visit, input: { to, locale: language, network } });
  if (asked === 'sent') return { to: '/panel/numbers' };
  if (asked === 'unavailable') return notSent(visit, 503, say.unavailable);
  if (typeof asked === 'string')
    return page(visit, { to: typed, fault: { field: 'to', text: say.faults[asked] } });
  const { limited, seconds } = asked;
  return notSent(visit, 429, say.limited[limited](timeIn(seconds)), seconds);
}

function notSent({ language }: MemberVisit, status: number, text: string, seconds?: number): Answer {
  const say = words[language];
  const view = (
    <>
      <p>{text}</p>
      <p>
        <a href="/panel/numbers">{say.back}</a>
      </p>
    </>
  );
  const headers = seconds === undefined ? {} : { 'Retry-After': String(seconds) };
  return { status, title: say.notSent, view, headers };
}

async function confirm(visit: MemberVisit): Promise<Answer> {
  const { language, params } = visit;
  const say = words[language];
  requireActive(visit);
  const fault = (text: string) => page(visit, { to: '', fault: { field: 'code', text } });
  const code = typedCode(visit);
  if (!/^\d{6}$/.test(code)) return fault(say.codeFault);
  const guessed = await confirmNumber(asking(visit, { id: params['id'] ?? '', code }));
  if (guessed === 'verified') return { to: '/panel/numbers' };
  if (guessed === 'elsewhere') return fault(say.faults.elsewhere);
  return fault(guessed.left === 0 ? say.codeOver : say.codeWrong(guessed.left));
}

export const numberRoutes = [
  accountPage('/panel/numbers', MANAGERS, { get: (visit) => page(visit), post: ask }),
  accountPage('/panel/numbers/:id/confirm', MANAGERS, {
    // Where the page with a wrong code is loaded again.
    get: () => ({ to: '/panel/numbers' }),
    post: confirm,
  }),
  accountPage('/panel/numbers/remove', MANAGERS, {
    async post(visit) {
      requireActive(visit);
      const input = { account: visit.account.id, msisdn: visit.form.get('number') ?? '' };
      await forgetVerifiedNumber(asking(visit, input));
      return { to: '/panel/numbers' };
    },
  }),
];
