import { blacklistForOptOut, findOptOutLink, type OptOutLink } from '../../db/incoming/blacklist.ts';
import { linkToken, OPT_OUT_TOKEN_LENGTH } from '../../domain/links.ts';
import { maskMsisdn } from '../../domain/msisdn.ts';
import type { Page, PageAnswer } from '../http/page.ts';
import { isKnownAutomatic } from './automatic.ts';
import { failurePage, shortPage } from './short.tsx';

/**
 * /o/{token} (v2.3.0, Blacklist and opt-out): a visit blacklists the recipient's number for the account; repeated visits change nothing.
 * Known robots get a page with a button (POST) instead, and change nothing.
 */
export const optOutPage: Page = {
  methods: ['GET', 'POST'],
  path: '/o/:token',
  visitors: true,
  async handle(visit) {
    const { sql } = visit.services;
    const token = linkToken(visit.params['token'], OPT_OUT_TOKEN_LENGTH);
    const link = token === null ? null : await findOptOutLink(sql, token);
    if (link === null) return inactive();
    if (visit.method !== 'POST' && isKnownAutomatic(visit)) return question(link);
    if (!link.optedOut) await blacklistForOptOut(sql, link.accountId, link.msisdn);
    return confirmation(link);
  },
  failed: (status, { requestId }) => failurePage(status, 'Nie udało się potwierdzić rezygnacji', requestId),
};

function confirmation({ msisdn, sender }: OptOutLink): PageAnswer {
  return shortPage(
    200,
    'Rezygnacja przyjęta',
    <>
      <p>
        Na numer <strong>{maskMsisdn(msisdn)}</strong> nie będziemy już wysyłać wiadomości od nadawcy{' '}
        <strong>{sender}</strong>.
      </p>
      <p>Jeśli to pomyłka, skontaktuj się z nadawcą.</p>
    </>,
  );
}

function question({ msisdn, sender }: OptOutLink): PageAnswer {
  return shortPage(
    200,
    'Rezygnacja z\u00a0wiadomości SMS',
    <>
      <p>
        Czy numer <strong>{maskMsisdn(msisdn)}</strong> ma już nie otrzymywać wiadomości od nadawcy{' '}
        <strong>{sender}</strong>?
      </p>
      <form method="post">
        <button type="submit">Tak, rezygnuję</button>
      </form>
    </>,
  );
}

function inactive(): PageAnswer {
  return shortPage(
    404,
    'Link jest nieaktywny',
    <>
      <p>
        Ten link do rezygnacji z wiadomości nie działa. Sprawdź, czy adres jest taki sam jak w otrzymanej
        wiadomości.
      </p>
      <p>Jeśli nadal nie działa, zgłoś rezygnację nadawcy wiadomości.</p>
    </>,
  );
}
