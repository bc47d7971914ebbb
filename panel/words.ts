import type { Dictionary } from './language.ts';

const pl = {
  skip: 'Przejdź do treści',
  panel: 'Panel',
  sections: 'Działy panelu',
  overview: 'Przegląd',
  keys: 'Klucze',
  you: 'Ty',
  signOut: 'Wyloguj',
  otherLanguage: 'English',
  account: 'Konto',
  back: 'Wróć do panelu',
  event: 'Identyfikator zdarzenia',
  /** Of pages that cannot be shown, by status; `other` for the rest. */
  problems: {
    400: ['Nie można odczytać formularza', 'Wróć na poprzednią stronę, odśwież ją i spróbuj jeszcze raz.'],
    403: [
      'Brak dostępu',
      'Tej strony nie możesz otworzyć albo formularz nie pochodzi z panelu. Wróć do panelu i spróbuj jeszcze raz.',
    ],
    404: ['Nie ma takiej strony', 'Sprawdź adres. To, czego szukasz, mogło też zostać usunięte.'],
    409: ['Teraz nie można tego zrobić', 'Stan konta na to nie pozwala. Sprawdź go w przeglądzie.'],
    429: ['Za dużo naraz', 'Poczekaj chwilę i spróbuj jeszcze raz.'],
    500: ['Coś poszło nie tak', 'Błąd jest po naszej stronie. Spróbuj jeszcze raz za kilka minut.'],
  } as Readonly<Record<number, readonly [heading: string, text: string]>>,
  roles: { owner: 'właściciel', developer: 'programista', billing: 'rozliczenia', reader: 'podgląd' },
  /** In the title of a page with an error in its form. */
  error: 'Błąd',
  correct: 'Popraw formularz',
};

const en: typeof pl = {
  skip: 'Skip to content',
  panel: 'Panel',
  sections: 'Sections of the panel',
  overview: 'Overview',
  keys: 'Keys',
  you: 'You',
  signOut: 'Sign out',
  otherLanguage: 'Polski',
  account: 'Account',
  back: 'Back to the panel',
  event: 'Event id',
  problems: {
    400: ['The form cannot be read', 'Go back to the page before, reload it and try again.'],
    403: [
      'No access',
      'You may not open this page, or the form is not one of the panel. Go back to the panel and try again.',
    ],
    404: ['There is no such page', 'Check the address. What you look for may also have been removed.'],
    409: ['This cannot be done now', 'The state of the account does not allow it. See the overview.'],
    429: ['Too much at once', 'Wait a moment and try again.'],
    500: ['Something went wrong', 'The fault is on our side. Try again in a few minutes.'],
  },
  roles: { owner: 'owner', developer: 'developer', billing: 'billing', reader: 'reader' },
  error: 'Error',
  correct: 'Correct the form',
};

export const words: Dictionary<typeof pl> = { pl, en };
