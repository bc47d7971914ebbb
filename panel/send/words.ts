import type { Dictionary } from '../language.ts';

const pl = {
  heading: 'Wyślij SMS',
  confirmHeading: 'Sprawdź i wyślij',
  fields: {
    to: 'Numery odbiorców',
    groups: 'Grupa kontaktów',
    text: 'Treść',
    template_id: 'Szablon zamiast treści',
    from: 'Nadawca',
    send_at: 'Kiedy wysłać (czas polski)',
    send_window: 'Godziny wysyłki (czas polski)',
  },
  toHint: 'Każdy w osobnym wierszu albo po przecinku, np. 500 100 200 lub +48 500-100-200. Do 500 naraz.',
  groupsHint: 'W nawiasie liczba kontaktów. Razem z numerami najwyżej 500 odbiorców naraz.',
  moreGroups: 'To pierwsze grupy według nazwy; do innej wyślesz SMS ze strony tej grupy.',
  noGroup: 'bez grupy',
  textHint: 'Możesz użyć pól {{imie}}, {{nazwisko}}, {{email}}, {{opt_out}} i {{link:https://…}}.',
  templateHint: 'Wybrany szablon zastępuje treść wpisaną wyżej.',
  moreTemplates: 'To pierwsze szablony według nazwy; innego użyjesz z jego strony.',
  noTemplate: 'bez szablonu',
  params: 'Pola szablonu',
  paramsHint: 'Puste wypełnimy z kontaktów.',
  usualSender: (name: string) => `domyślny: ${name}`,
  sendAtHint: 'Puste: od razu. Czas w Polsce, najwyżej 90 dni naprzód.',
  windowHint: (hours: string | null) =>
    hours === null
      ? 'Np. 08:00-20:00. Puste: o każdej porze.'
      : `Np. 08:00-20:00. Puste: godziny konta, ${hours}.`,
  noSuchTime: 'Takiej godziny nie ma w Polsce tego dnia. Podaj inny dzień albo godzinę.',
  next: 'Dalej',
  estimate: 'Pokaż cenę i podgląd',
  test: (number: string) => `Wyślij test na ${number}`,
  noOwnNumber: 'Potwierdź własny numer, żeby wysyłać na niego testy',
  tested: 'Test wysłany.',
  testedLink: 'Zobacz, czy dotarł',
  preview: 'Podgląd i cena',
  nothingYet: 'Wpisz odbiorców i treść, a zobaczysz cenę i podgląd.',
  figures: { accepted: 'Odbiorcy', parts: 'Części', cost: 'Cena razem', free: 'Bezpłatne wiadomości' },
  netHint: 'Cena netto.',
  nonGsm7: (character: string, position: number) =>
    `Znak „${character}” na pozycji ${position} skraca części: bez takich znaków mieści się w nich więcej.`,
  changed:
    'Od kiedy pokazaliśmy tę stronę, coś się zmieniło albo minął dzień. Sprawdź, czy tego już nie wysłano, i potwierdź jeszcze raz.',
  rejected: (rejected: string, all: string) =>
    `Na czarnej liście: ${rejected} z ${all}. Nie dostaną wiadomości i nic nie kosztują.`,
  nobody: 'Nikt nie dostałby tej wiadomości.',
  noFunds: 'Środki na koncie nie wystarczą na tę wysyłkę.',
  late: 'Podany czas już minął: wiadomość wyjdzie od razu.',
  when: 'Kiedy',
  atOnce: 'od razu',
  polishTime: (at: string) => `${at} (czas polski)`,
  first: 'Pierwsze wiadomości',
  columns: { to: 'Odbiorca', text: 'Treść', parts: 'Części', cost: 'Cena' },
  send: (recipients: string) => `Wyślij (odbiorcy: ${recipients})`,
  correct: 'Popraw',
};

const en: typeof pl = {
  heading: 'Send an SMS',
  confirmHeading: 'Check and send',
  fields: {
    to: 'Numbers of recipients',
    groups: 'Group of contacts',
    text: 'Text',
    template_id: 'Template instead of a text',
    from: 'Sender',
    send_at: 'When to send (Polish time)',
    send_window: 'Sending hours (Polish time)',
  },
  toHint: 'One per line or separated by commas, such as 500 100 200 or +48 500-100-200. Up to 500 at once.',
  groupsHint: 'Contacts are in brackets. Together with the numbers, 500 recipients at most at once.',
  moreGroups: 'These are the first groups by name; send to another one from its own page.',
  noGroup: 'no group',
  textHint: 'You may use {{imie}}, {{nazwisko}}, {{email}}, {{opt_out}} and {{link:https://…}}.',
  templateHint: 'The template takes the place of the text above.',
  moreTemplates: 'These are the first templates by name; send another one from its own page.',
  noTemplate: 'no template',
  params: 'Fields of the template',
  paramsHint: 'Those left empty are filled from the contacts.',
  usualSender: (name: string) => `default: ${name}`,
  sendAtHint: 'Empty: at once. Time in Poland, at most 90 days ahead.',
  windowHint: (hours: string | null) =>
    hours === null
      ? 'Such as 08:00-20:00. Empty: at any time.'
      : `Such as 08:00-20:00. Empty: the hours of the account, ${hours}.`,
  noSuchTime: 'There is no such time in Poland on that day. Enter another day or time.',
  next: 'Continue',
  estimate: 'Show price and preview',
  test: (number: string) => `Send a test to ${number}`,
  noOwnNumber: 'Verify a number of your own to send tests to it',
  tested: 'The test was sent.',
  testedLink: 'See whether it arrived',
  preview: 'Preview and price',
  nothingYet: 'Enter recipients and a text to see price and preview.',
  figures: { accepted: 'Recipients', parts: 'Parts', cost: 'Total price', free: 'Free messages' },
  netHint: 'Net price.',
  nonGsm7: (character: string, position: number) =>
    `The character “${character}” at position ${position} makes parts shorter: without such characters they hold more.`,
  changed:
    'Since this page was shown, something has changed or a day has passed. Check that this was not sent already, and confirm again.',
  rejected: (rejected: string, all: string) =>
    `On the blacklist: ${rejected} of ${all}. They get no message and cost nothing.`,
  nobody: 'Nobody would get this message.',
  noFunds: 'The funds of the account are too low for this send.',
  late: 'The time is past: the message would leave at once.',
  when: 'When',
  atOnce: 'at once',
  polishTime: (at: string) => `${at} (Polish time)`,
  first: 'First messages',
  columns: { to: 'Recipient', text: 'Text', parts: 'Parts', cost: 'Price' },
  send: (recipients: string) => `Send (recipients: ${recipients})`,
  correct: 'Correct',
};

export const words: Dictionary<typeof pl> = { pl, en };
