import type { Dictionary } from '../language.ts';

const pl = {
  heading: 'Powiadomienia',
  lead: 'Wysyłamy jednorazowy e-mail, gdy:',
  events: [
    'zostało mniej środków niż próg poniżej;',
    'przy średnim koszcie ostatnich 30 dni środków wystarczy na 7, 3 albo 1 dzień;',
    'wystawiliśmy rozliczenie miesięczne, za trzy dni mija termin jego płatności albo termin minął.',
  ],
  lowBalance: 'Powiadom, gdy zostanie mniej niż (PLN netto)',
  lowBalanceHint: 'Na przykład 50 albo 99,50; puste: bez tego powiadomienia',
  amountFault: 'Wpisz kwotę w złotych większą od zera, na przykład 50 albo 99,50.',
  people: 'Kto je dostaje',
  contact: (address: string) =>
    `Zawsze ${address}, e-mail do rozliczeń, który zmienia obsługa, oraz zaznaczone osoby; razem najwyżej pięć adresów. Kogo tu nie ma, tego najpierw zaproś do zespołu.`,
  noContact: 'Zaznaczone osoby, najwyżej pięć. Kogo tu nie ma, tego najpierw zaproś do zespołu.',
  save: 'Zapisz',
  saved: 'Zapisano.',
  webhook: 'Gdy zostanie mniej niż próg, wysyłamy też zdarzenie balance.low na webhook.',
};

const en: typeof pl = {
  heading: 'Alerts',
  lead: 'We send an e-mail, once each, when:',
  events: [
    'less is left than the threshold below;',
    'at the mean cost of the last 30 days the balance lasts for 7, 3 or 1 day;',
    'a monthly statement is issued, is due in three days, or is overdue.',
  ],
  lowBalance: 'Tell when less is left than (PLN net)',
  lowBalanceHint: 'For example 50 or 99.50; empty: not at all',
  amountFault: 'Enter an amount in PLN above zero, for example 50 or 99.50.',
  people: 'Who gets them',
  contact: (address) =>
    `Always ${address}, the e-mail for billing, which support changes, and the people ticked; five addresses at most together. Invite who is missing to the team first.`,
  noContact: 'The people ticked, five at most. Invite who is missing to the team first.',
  save: 'Save',
  saved: 'Saved.',
  webhook: 'When less is left than the threshold, the webhook also gets the event balance.low.',
};

export const words: Dictionary<typeof pl> = { pl, en };
