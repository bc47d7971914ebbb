import { readFactors } from '../../db/people/factors.ts';
import { ownPath } from '../../domain/people.ts';
import { requestOptions } from '../../operations/people/passkeys.ts';
import { proveFactor } from '../../operations/people/proof.ts';
import type { Fault } from '../ask.ts';
import { cookieHeader } from '../cookies.ts';
import { type Answer, type PersonVisit, personPage } from '../route.ts';
import { Confirm, PASSKEY_SCRIPT } from './view.tsx';
import { words } from './words.ts';

async function page(visit: PersonVisit, next: string | null, fault: Fault | null): Promise<Answer> {
  const { session, language } = visit;
  const factor = session.hasFactor ? { options: await passkeyOptions(visit), fault } : null;
  const about = { language, address: session.address, next, isAgain: !session.owesFactor, factor };
  return {
    status: fault === null ? 200 : 422,
    title: words[language].heading,
    view: <Confirm {...about} />,
    ...(factor?.options ? { script: PASSKEY_SCRIPT } : {}),
  };
}

async function passkeyOptions({ services, session }: PersonVisit): Promise<object | null> {
  const { passkeys } = await readFactors(services.sql, session.personId);
  const known = passkeys.map(({ id }) => id);
  return known.length === 0 ? null : await requestOptions(services, session, known);
}

async function prove(visit: PersonVisit): Promise<Answer> {
  const { services, session, form, language } = visit;
  const next = ownPath(form.get('next') ?? '');
  const passkey = form.get('response');
  const code = (form.get('code') ?? '').slice(0, 100);
  const proved = await proveFactor(services, session, passkey === undefined ? { code } : { passkey });
  if (typeof proved === 'string') {
    const { passkeyFailed, ...say } = words[language];
    const text = passkey === undefined ? say[proved] : passkeyFailed;
    return page(visit, next, { field: passkey === undefined ? 'code' : null, text });
  }
  const cookies = [cookieHeader(services.panelUrl, 'session', proved.token, null)];
  return { to: next ?? '/panel/overview', cookies };
}

export const confirmRoutes = [
  personPage('/panel/confirm', {
    beforeSecondFactor: true,
    get: (visit) => page(visit, ownPath(visit.query.get('next') ?? ''), null),
    post: prove,
  }),
];
