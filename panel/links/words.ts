import type { Dictionary } from '../language.ts';

const pl = {
  heading: 'Linki',
  title: (token: string) => `Link ${token}`,
  lead: 'Adres wpisany w treści jako {{link:https://…}} zamieniamy na krótki link, osobny dla każdego odbiorcy.',
  shown: 'Pokaż',
  all: 'wszystkie',
  clickedOnly: 'kliknięte',
  none: 'Nie ma jeszcze żadnego linku.',
  noneFound: 'Żaden link nie pasuje do filtrów.',
  columns: { link: 'Link', url: 'Adres', to: 'Odbiorca', clicks: 'Kliknięcia', last: 'Ostatnie' },
  never: 'nigdy',
  facts: { short: 'Krótki link', url: 'Adres', to: 'Odbiorca', created: 'Powstał', clicks: 'Kliknięcia' },
  clicks: 'Ostatnie kliknięcia',
  noClicks: 'Nikt jeszcze nie kliknął.',
  clickColumns: { at: 'Kiedy', program: 'Przeglądarka' },
  robot: 'robot',
};

const en: typeof pl = {
  heading: 'Links',
  title: (token: string) => `Link ${token}`,
  lead: 'An address written into a text as {{link:https://…}} becomes a short link, another one for each recipient.',
  shown: 'Show',
  all: 'all',
  clickedOnly: 'clicked',
  none: 'There is no link yet.',
  noneFound: 'No link matches the filters.',
  columns: { link: 'Link', url: 'Address', to: 'Recipient', clicks: 'Clicks', last: 'Latest' },
  never: 'never',
  facts: { short: 'Short link', url: 'Address', to: 'Recipient', created: 'Created', clicks: 'Clicks' },
  clicks: 'Latest clicks',
  noClicks: 'Nobody has clicked yet.',
  clickColumns: { at: 'When', program: 'Browser' },
  robot: 'robot',
};

export const words: Dictionary<typeof pl> = { pl, en };
