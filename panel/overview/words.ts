import type { Dictionary } from '../language.ts';

const pl = {
  heading: 'Przegląd',
  modes: { test: 'Konto testowe', live: 'Konto aktywne' },
  states: {
    suspended: 'Konto jest zawieszone: wysyłki czekają. Skontaktuj się z obsługą.',
    closed: 'Konto jest zamknięte.',
  },
  free: 'Bezpłatne wiadomości',
  freeHint: 'Tylko na własne numery i domeny.',
  balance: 'Saldo',
  net: 'Netto.',
  today: 'Dziś',
  figures: { accepted: 'Przyjęte', delivered: 'Dostarczone', failed: 'Nieudane', cost: 'Koszt' },
  todayHint: 'Od północy czasu polskiego, bez odrzuconych.',
  todayLater: 'Liczby z dziś są chwilowo niedostępne. Odśwież stronę za chwilę.',
  next: 'Co dalej',
  steps: {
    key: ['Utwórz klucz', ': pokażemy polecenie, które wysyła SMS z terminala.'],
    docs: ['Przeczytaj dokumentację', ' interfejsu: wysyłka, statusy, webhooki.'],
    number: 'Konto testowe wysyła tylko na potwierdzone własne numery. Potwierdza je obsługa.',
    live: 'Po pierwszej wpłacie konto staje się aktywne i wysyła na każdy numer.',
  },
};

const en: typeof pl = {
  heading: 'Overview',
  modes: { test: 'Test account', live: 'Live account' },
  states: {
    suspended: 'The account is suspended: messages wait. Contact support.',
    closed: 'The account is closed.',
  },
  free: 'Free messages',
  freeHint: 'To own numbers and domains only.',
  balance: 'Balance',
  net: 'Net.',
  today: 'Today',
  figures: { accepted: 'Accepted', delivered: 'Delivered', failed: 'Failed', cost: 'Cost' },
  todayHint: 'Since midnight in Poland, without rejected ones.',
  todayLater: "Today's figures are not available at the moment. Reload the page in a while.",
  next: 'What is next',
  steps: {
    key: ['Create a key', ': you get a command that sends an SMS from a terminal.'],
    docs: ['Read the documentation', ' of the interface: sending, statuses, webhooks.'],
    number: 'A test account sends to its own verified numbers only. Support verifies them.',
    live: 'With the first payment the account becomes live, and sends to any number.',
  },
};

export const words: Dictionary<typeof pl> = { pl, en };
