import { readBuyer } from '../../db/money/companyProfiles.ts';
import { PAYERS } from '../../domain/actor.ts';
import { ownPath } from '../../domain/people.ts';
import {
  changeCompany,
  COMPANY_FIELDS,
  typedOf,
  type TypedCompany,
} from '../../operations/accounts/company.ts';
import { asking, type Fault, faultOf } from '../ask.ts';
import { accountPage, type Answer, type MemberVisit } from '../route.ts';
import { Company } from './view.tsx';
import { words } from './words.ts';

const PATH = '/panel/company';

function page(
  visit: MemberVisit,
  typed: TypedCompany,
  next: string | null,
  fault: Fault | null = null,
): Answer {
  const { language } = visit;
  const view = <Company {...{ language, typed, next, fault }} />;
  return { status: fault === null ? 200 : 422, title: words[language].heading, view };
}

async function change(visit: MemberVisit): Promise<Answer> {
  const { caller, form, language } = visit;
  const given = Object.fromEntries(COMPANY_FIELDS.map((field) => [field, form.get(field) ?? '']));
  const next = ownPath(form.get('next') ?? '');
  try {
    await changeCompany(asking(visit, { account: caller.accountId, given }));
    return { to: next ?? PATH };
  } catch (thrown) {
    return page(visit, given, next, faultOf(language, thrown));
  }
}

export const companyRoutes = [
  accountPage(PATH, PAYERS, {
    get: async (visit) => {
      const buyer = await readBuyer(visit.services.sql, visit.account.id);
      return page(visit, typedOf(buyer), ownPath(visit.query.get('next') ?? ''));
    },
    post: change,
  }),
];
