import {
  findUnsubscribeLink,
  UNSUBSCRIBE_TOKEN_LENGTH,
  unsubscribe,
  type UnsubscribeLink,
} from '../../db/emails/suppressions.ts';
import { linkToken } from '../../domain/links.ts';
import { maskAddress } from '../../domain/email/address.ts';
import type { Page, PageAnswer } from '../http/page.ts';
import { failurePage, shortPage } from './short.tsx';

/**
 * /u/{token} (our addition): the `List-Unsubscribe` of an e-mail. Only POST unsubscribes, by a mail client (RFC 8058) or the page's button:
 * programs open every link of an e-mail. Repeated requests change nothing.
 */
export const unsubscribePage: Page = {
  methods: ['GET', 'POST'],
  path: '/u/:token',
  visitors: true,
  async handle({ method, params, services: { sql } }) {
    const token = linkToken(params['token'], UNSUBSCRIBE_TOKEN_LENGTH);
    const link = token === null ? null : await findUnsubscribeLink(sql, token);
    if (link === null) return inactive();
    if (method !== 'POST') return link.unsubscribed ? confirmation(link) : question(link);
    if (!link.unsubscribed) await unsubscribe(sql, link);
    return confirmation(link);
  },
  failed: (status, { requestId }) => failurePage(status, 'Nie udało się potwierdzić rezygnacji', requestId),
};

function confirmation({ address, accountName }: UnsubscribeLink): PageAnswer {
  return shortPage(
    200,
    'Rezygnacja przyjęta',
    <>
      <p>
        Na adres <strong>{maskAddress(address)}</strong> nie będziemy już wysyłać e-maili od{' '}
        <strong>{accountName}</strong>.
      </p>
      <p>Jeśli to pomyłka, skontaktuj się z nadawcą.</p>
    </>,
  );
}

function question({ address, accountName }: UnsubscribeLink): PageAnswer {
  return shortPage(
    200,
    'Rezygnacja z\u00a0e-maili',
    <>
      <p>
        Czy adres <strong>{maskAddress(address)}</strong> ma już nie otrzymywać e-maili od{' '}
        <strong>{accountName}</strong>?
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
        Ten link do rezygnacji z e-maili nie działa. Sprawdź, czy adres jest taki sam jak w otrzymanej
        wiadomości.
      </p>
      <p>Jeśli nadal nie działa, zgłoś rezygnację nadawcy.</p>
    </>,
  );
}
