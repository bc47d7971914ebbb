import type { Dictionary } from '../language.ts';

const pl = {
  heading: 'Przegląd',
  modes: { test: 'Konto testowe', live: 'Konto aktywne' },
  free: 'Bezpłatne wiadomości',
  freeHint: 'Tylko na własne numery i domeny.',
  balance: 'Saldo',
  net: 'Netto.',
  needs: {
    heading: 'Wymaga uwagi',
    suspended: 'Konto jest zawieszone: wysyłki czekają. Skontaktuj się z obsługą.',
    closed: 'Konto jest zamknięte.',
    balance: (left: string, week: string) =>
      `Kończą się środki: zostało ${left} netto, a ostatnie siedem dni kosztowało ${week}.`,
    credits: 'Bezpłatne wiadomości się skończyły. Doładuj konto, aby wysyłać dalej.',
    number: 'Konto testowe nie ma własnego numeru, więc nic nie wyśle.',
    testKey:
      'Konto jest aktywne, a klucz testowy tylko odczytuje. Utwórz klucz produkcyjny i zastąp nim testowy.',
    webhook: 'Od wczoraj webhook nie przyjął części zdarzeń.',
    keys: (names: string) => `Od 90 dni nikt nie użył klucza: ${names}. Niepotrzebne unieważnij.`,
  },
  firstSteps: 'Pierwsze kroki',
  done: 'zrobione',
  steps: {
    number: ['Potwierdź swój numer', 'Dostaniesz kod SMS-em. Na ten numer wyślesz pierwsze wiadomości.'],
    send: ['Wyślij pierwszy SMS', 'Z tej strony, na swój numer.'],
    curl: ['Wyślij to samo z terminala', 'Utwórz klucz, a dostaniesz gotowe polecenie.'],
    sender: ['Wybierz nadawcę', 'Jego nazwę zobaczą odbiorcy.'],
    live: ['Doładuj konto', 'Po pierwszej wpłacie konto staje się aktywne i wysyła na każdy numer.'],
  },
  today: 'Dziś',
  todayHint:
    'Od północy czasu polskiego; bez wiadomości, które czekają, i tych, które anulowano lub odrzucono.',
  lastDays: 'Ostatnie 30 dni',
  nothing: 'W tym czasie nic nie wysłano.',
  testCost: 'Koszt, gdyby konto było aktywne: wiadomości testowe są bezpłatne.',
  later: 'Liczby są chwilowo niedostępne. Odśwież stronę za chwilę.',
  figures: { sent: 'Wysłane', delivered: 'Dostarczone', failed: 'Nieudane', cost: 'Koszt' },
  chart: 'Wiadomości wysłane każdego dnia',
  bar: (sent: string, failed: string) => `wysłane ${sent}, w tym nieudane ${failed}`,
  caption: (first: string, last: string, most: string) =>
    `Od ${first} do ${last}, najwięcej w ciągu dnia: ${most}. Nieudane są na dole słupków.`,
  table: 'Te same liczby w tabeli',
  day: 'Dzień',
};

const en: typeof pl = {
  heading: 'Overview',
  modes: { test: 'Test account', live: 'Live account' },
  free: 'Free messages',
  freeHint: 'To own numbers and domains only.',
  balance: 'Balance',
  net: 'Net.',
  needs: {
    heading: 'Needs attention',
    suspended: 'The account is suspended: messages wait. Contact support.',
    closed: 'The account is closed.',
    balance: (left, week) =>
      `The balance runs out: ${left} net are left, and the last seven days cost ${week}.`,
    credits: 'There are no free messages left. Top up to go on sending.',
    number: 'The test account has no number of its own, and so it sends nothing.',
    testKey:
      'The account is live, and the test key only reads. Create a live key, and replace the test key with it.',
    webhook: 'Since yesterday the webhook has not taken some of the events.',
    keys: (names) => `Nobody has used these keys for 90 days: ${names}. Revoke what is not needed.`,
  },
  firstSteps: 'First steps',
  done: 'done',
  steps: {
    number: ['Verify your number', 'You get a code by SMS. Your first messages go to that number.'],
    send: ['Send the first SMS', 'From this site, to your number.'],
    curl: ['Send the same from a terminal', 'Create a key, and you get the command.'],
    sender: ['Choose a sender', 'Recipients see its name.'],
    live: ['Top up', 'With the first payment the account becomes live, and sends to any number.'],
  },
  today: 'Today',
  todayHint: 'Since midnight in Poland; without messages that wait, were cancelled or rejected.',
  lastDays: 'Last 30 days',
  nothing: 'Nothing was sent in this time.',
  testCost: 'The cost if the account were live: test messages are free.',
  later: 'The figures are not available at the moment. Reload the page in a while.',
  figures: { sent: 'Sent', delivered: 'Delivered', failed: 'Failed', cost: 'Cost' },
  chart: 'Messages sent on each day',
  bar: (sent, failed) => `${sent} sent, ${failed} of them failed`,
  caption: (first, last, most) =>
    `From ${first} to ${last}, at most ${most} on one day. Failed ones are at the foot of the bars.`,
  table: 'The same figures as a table',
  day: 'Day',
};

export const words: Dictionary<typeof pl> = { pl, en };
