import { polishTime } from '../domain/calendar.ts';
import type { StatementForCustomer } from '../domain/money.ts';
import { AUTOMATIC, pln, type Words } from './words.ts';

const MONTHS = [
  'styczeń',
  'luty',
  'marzec',
  'kwiecień',
  'maj',
  'czerwiec',
  'lipiec',
  'sierpień',
  'wrzesień',
  'październik',
  'listopad',
  'grudzień',
];

/** E-mail that delivers a statement to the customer (in Polish). */
export function statementWords(statement: StatementForCustomer): Words {
  const month = monthInWords(statement.month);
  return {
    subject: `Rozliczenie za ${month}`,
    text: [
      'Dzień dobry,',
      `przesyłamy rozliczenie miesięczne za ${month}.`,
      facts(statement),
      statement.paidAt === null
        ? 'Po terminie płatności wysyłki są wstrzymane do zaksięgowania wpłaty.'
        : 'To rozliczenie jest uregulowane: nie trzeba nic płacić.',
      AUTOMATIC,
    ].join('\n\n'),
  };
}

/** E-mail about a statement that is due within three days (in Polish). */
export function dueWords(statement: StatementForCustomer): Words {
  const month = monthInWords(statement.month);
  return {
    subject: `Zbliża się termin płatności: rozliczenie za ${month}`,
    text: [
      'Dzień dobry,',
      `nie zaksięgowaliśmy jeszcze wpłaty za ${month}. Po terminie płatności wysyłki są wstrzymane do jej zaksięgowania.`,
      facts(statement),
      ON_ITS_WAY,
      AUTOMATIC,
    ].join('\n\n'),
  };
}

/** Reminder e-mail for an overdue statement (in Polish). */
export function reminderWords(statement: StatementForCustomer): Words {
  const month = monthInWords(statement.month);
  return {
    subject: `Przypomnienie: rozliczenie za ${month} jest po terminie płatności`,
    text: [
      'Dzień dobry,',
      `nie zaksięgowaliśmy jeszcze wpłaty za ${month}. Wysyłki są wstrzymane do jej zaksięgowania.`,
      facts(statement),
      ON_ITS_WAY,
      AUTOMATIC,
    ].join('\n\n'),
  };
}

const ON_ITS_WAY = 'Jeżeli przelew jest już w drodze, prosimy o pominięcie tej wiadomości.';

function facts({ statement, account, amountGrosze, dueAt }: StatementForCustomer): string {
  return [
    `Konto: ${account}`,
    `Kwota netto: ${pln(amountGrosze)}`,
    `Termin płatności: ${timeInWords(dueAt)}`,
    `Tytuł płatności: ${statement}`,
  ].join('\n');
}

/** `listopad 2026` of `2026-11`. */
export function monthInWords(month: string): string {
  const [year, number] = month.split('-');
  return `${MONTHS[Number(number) - 1]} ${year}`;
}

/** `14.12.2026, godz. 09:05 czasu polskiego`. */
export function timeInWords(instant: Date): string {
  const { day, time } = polishTime(instant.getTime());
  const [year, month, date] = day.split('-');
  return `${date}.${month}.${year}, godz. ${time} czasu polskiego`;
}
