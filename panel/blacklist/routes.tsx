import { extendBlacklist, listBlacklist, shortenBlacklist } from '../../api/blacklist.ts';
import { MANAGERS, ROLES } from '../../domain/actor.ts';
import { addDays, parseDay, startOfDay } from '../../domain/calendar.ts';
import { withoutSeparators } from '../../domain/msisdn.ts';
import { ask, type Fault, filled, attempt } from '../ask.ts';
import { list as enumerate } from '../language.ts';
import { accountPage, type Answer, type MemberVisit } from '../route.ts';
import { Addition, Blacklist } from './view.tsx';
import { words } from './words.ts';

/** Bytes: a thousand numbers in any form. */
const FORM_BYTES = 48 * 1024;
const FIELDS = ['msisdns', 'reason', 'expires_at'];

async function list(visit: MemberVisit): Promise<Answer> {
  const { language, query } = visit;
  const { msisdn, ...rest } = filled(query, ['msisdn', 'reason', 'cursor']);
  const asked = { ...rest, ...(msisdn === undefined ? {} : { msisdn: withoutSeparators(msisdn) }) };
  const found = await attempt(language, ask(visit, listBlacklist, { query: asked }));
  const manages = visit.caller.scopes.includes('manage');
  const view = <Blacklist {...{ language, query, found, manages }} />;
  return { status: 200, title: words[language].heading, view };
}

function form({ language, form: typed }: MemberVisit, fault: Fault | null = null): Answer {
  const view = <Addition {...{ language, typed, fault }} />;
  return { status: fault === null ? 200 : 422, title: words[language].add, view };
}

/** Adds numbers. Those that are none stay in the form. */
async function add(visit: MemberVisit): Promise<Answer> {
  const { language } = visit;
  const { msisdns = '', reason, expires_at } = filled(visit.form, FIELDS);
  const numbers = msisdns
    .split(/[\n\t,;]/)
    .map(withoutSeparators)
    .filter((number) => number !== '');
  const body = { msisdns: numbers, reason, expires_at: expires_at === undefined ? null : endOf(expires_at) };
  const { answer, fault } = await attempt(language, ask(visit, extendBlacklist, { body }));
  if (fault !== null) return form(visit, fault);
  if (answer.invalid.length === 0) return { to: '/panel/blacklist' };
  const left = new Map([...visit.form, ['msisdns', answer.invalid.join('\n')]]);
  const text = words[language].invalid(answer.added, enumerate(language, answer.invalid.slice(0, 10)));
  return form({ ...visit, form: left }, { field: 'msisdns', text });
}

/** The end of a Polish day, as the API has it. What is no day is refused there. */
function endOf(written: string): string {
  const day = parseDay(written);
  return day === null ? written : new Date(startOfDay(addDays(day, 1))).toISOString();
}

export const blacklistRoutes = [
  accountPage('/panel/blacklist', ROLES, { get: list }),
  accountPage('/panel/blacklist/add', MANAGERS, {
    ...{ get: (visit) => form(visit), post: add, formBytes: FORM_BYTES },
  }),
  accountPage('/panel/blacklist/remove', MANAGERS, {
    async post(visit) {
      await ask(visit, shortenBlacklist, { params: { msisdn: visit.form.get('msisdn') ?? '' } });
      return { to: '/panel/blacklist' };
    },
  }),
];
