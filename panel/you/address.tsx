import { hashSecret } from '../../db/ids.ts';
import { type AddressChange, readAddressChange, waitingAddress } from '../../db/people/addressChanges.ts';
import { signInAddress } from '../../domain/people.ts';
import { confirmAddress, requestAddressChange, undoAddress } from '../../operations/people/address.ts';
import { SECRET } from '../../operations/people/signIn.ts';
import { timeIn } from '../language.ts';
import { Field, Summary } from '../parts.tsx';
import { type Answer, openPage, type PersonVisit, personPage, type Visit } from '../route.ts';
import { words } from './addressWords.ts';

async function form(visit: PersonVisit, typed = '', text: string | null = null): Promise<Answer> {
  const { services, session, language } = visit;
  const say = words[language];
  const waiting = await waitingAddress(services.sql, session.personId);
  const fault = text === null ? null : { field: 'address', text };
  const view = (
    <>
      <Summary language={language} fault={fault} />
      {waiting === undefined ? null : <p class="notice">{say.waiting(waiting)}</p>}
      <p>{say.lead}</p>
      <p>
        {say.present}: <strong>{session.address}</strong>
      </p>
      <form method="post" action="/panel/you/address" class="stack" noValidate>
        <Field
          {...{ label: say.address, fault }}
          name="address"
          type="email"
          required
          autoComplete="email"
          value={typed}
        />
        <button>{say.send}</button>
      </form>
    </>
  );
  return { status: fault === null ? 200 : 422, title: say.heading, view };
}

async function ask(visit: PersonVisit): Promise<Answer> {
  const { services, session, language, requestId, network } = visit;
  const say = words[language];
  const typed = (visit.form.get('address') ?? '').slice(0, 300);
  const address = signInAddress(typed);
  if (address === null) return form(visit, typed, say.addressFault);
  if (address === session.address) return form(visit, typed, say.sameFault);
  const { confirm, taken } = say.mails;
  const asked = await requestAddressChange(services, {
    ...{ personId: session.personId, address, requestId, network },
    words: {
      confirm: (token) => ({
        subject: confirm.subject,
        text: confirm.text(`${services.panelUrl}/panel/address/${token}`),
      }),
      taken,
    },
  });
  if (asked === 'sent') return { to: '/panel/you/address' };
  if (asked === 'unavailable') return form(visit, typed, say.unavailable);
  return form(visit, typed, say.limited[asked.limited](timeIn(asked.seconds)));
}

/** The token of a link; null: it cannot be one of ours. */
function tokenOf({ params }: Visit): string | null {
  const token = params['token'] ?? '';
  return SECRET.test(token) ? token : null;
}

async function changeOf(visit: Visit): Promise<AddressChange | undefined> {
  const token = tokenOf(visit);
  return token === null ? undefined : await readAddressChange(visit.services.sql, hashSecret(token));
}

function notChanged({ language }: Visit, why: 'over' | 'taken'): Answer {
  const say = words[language];
  const status = why === 'over' ? 404 : 409;
  return { status, title: say[`${why}Heading`], view: <p>{say[why]}</p> };
}

/** The page of a link. Opening it changes nothing. */
function linkPage({ path }: Visit, title: string, text: string, act: string): Answer {
  const view = (
    <form method="post" action={path}>
      <p>{text}</p>
      <button>{act}</button>
    </form>
  );
  return { status: 200, title, view };
}

/** Whoever opens a link of somebody who mistyped the address must not get the account: only the person confirms it. */
function signInFirst({ language }: Visit): Answer {
  const say = words[language];
  const view = (
    <p>
      <a href="/panel">{say.signIn}</a>
    </p>
  );
  return { status: 403, title: say.signInHeading, view };
}

async function confirmPage(visit: Visit): Promise<Answer> {
  const { session, language } = visit;
  if (session === null) return signInFirst(visit);
  const change = await changeOf(visit);
  if (change?.confirmedAt !== null || change.personId !== session.personId) return notChanged(visit, 'over');
  const say = words[language];
  return linkPage(visit, say.heading, say.confirmText(change.address), say.confirm);
}

async function confirm(visit: Visit): Promise<Answer> {
  const { services, session, language } = visit;
  const token = tokenOf(visit);
  if (session === null) return signInFirst(visit);
  if (token === null) return notChanged(visit, 'over');
  const { changed, undo } = words[language].mails;
  const outcome = await confirmAddress(services, {
    ...{ token, session, request: visit },
    words: {
      changed: (former) => ({ subject: changed.subject, text: changed.text(former) }),
      undo: (address, undoToken) => ({
        subject: undo.subject,
        text: undo.text(address, `${services.panelUrl}/panel/address/undo/${undoToken}`),
      }),
    },
  });
  return outcome === 'changed' ? { to: '/panel/you' } : notChanged(visit, outcome);
}

async function undoPage(visit: Visit): Promise<Answer> {
  const change = await changeOf(visit);
  if (change === undefined || change.confirmedAt === null) return notChanged(visit, 'over');
  const say = words[visit.language];
  return linkPage(visit, say.undoHeading, say.undoText(change.address), say.undo);
}

async function undo(visit: Visit): Promise<Answer> {
  const token = tokenOf(visit);
  if (token === null) return notChanged(visit, 'over');
  const { services, requestId, language } = visit;
  const say = words[language];
  const { subject, text } = say.mails.undone;
  const outcome = await undoAddress(services, {
    ...{ token, requestId, words: (address) => ({ subject, text: text(address) }) },
  });
  if (outcome !== 'changed') return notChanged(visit, outcome);
  return { status: 200, title: say.undoHeading, view: <p>{say.undone}</p> };
}

export const addressRoutes = [
  personPage('/panel/you/address', { get: (visit) => form(visit), post: ask, stepUp: true }),
  openPage('/panel/address/:token', { get: confirmPage, post: confirm }),
  openPage('/panel/address/undo/:token', { get: undoPage, post: undo }),
];
