import type { BalanceForCustomer } from '../domain/money.ts';
import { AUTOMATIC, pln, type Words } from './words.ts';

/** E-mail about a balance below the threshold that the customer set (in Polish). */
export function lowBalanceWords(balance: BalanceForCustomer, panelUrl: string): Words {
  const threshold = balance.thresholdGrosze === null ? '' : ` ${pln(balance.thresholdGrosze)}`;
  return wordsOf(balance, panelUrl, 'Niskie saldo', `środki spadły poniżej ustawionego progu${threshold}.`);
}

/** E-mail about a balance that is used up in a few days (in Polish). */
export function runwayWords(balance: BalanceForCustomer, panelUrl: string): Words {
  const days = balance.runwayDays ?? 0;
  const time = days === 0 ? 'niecały dzień' : days === 1 ? 'około 1 dzień' : `około ${days} dni`;
  return wordsOf(
    balance,
    panelUrl,
    `Środków wystarczy na ${time}`,
    `przy średnim dziennym koszcie z ostatnich 30 dni środków wystarczy na ${time}.`,
  );
}

function wordsOf(
  { account, name, leftGrosze }: BalanceForCustomer,
  panelUrl: string,
  subject: string,
  what: string,
): Words {
  return {
    subject: `${subject}: ${name}`,
    text: [
      'Dzień dobry,',
      what,
      `Konto: ${name} (${account})\nDo wykorzystania: ${pln(leftGrosze)} netto`,
      `Gdy środki się skończą, wysyłki będą odrzucane. Doładowanie konta:\n${panelUrl}/panel/billing`,
      `Zmiana powiadomień:\n${panelUrl}/panel/alerts`,
      AUTOMATIC,
    ].join('\n\n'),
  };
}
