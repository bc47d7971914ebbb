import type { Dictionary } from '../language.ts';

const pl = {
  heading: 'Ty',
  address: 'Adres e-mail',
  addressHint: 'Na ten adres wysyłamy kody i linki do logowania.',
  factors: 'Drugi składnik logowania',
  factorsOn: 'Logowanie wymaga drugiego składnika.',
  factorsOff: 'Kto ma dostęp do Twojej poczty, może się zalogować. Drugi składnik temu zapobiega.',
  factorsOpen: 'Ustaw drugi składnik',
  change: 'Zmień adres',
  accounts: 'Konta',
  shown: 'otwarte',
  open: 'Otwórz',
  sessions: 'Sesje',
  lead: 'Sesja kończy się sama po 12 godzinach bez użycia, najpóźniej po 7 dniach.',
  columns: {
    device: 'Urządzenie',
    place: 'Adres sieciowy',
    began: 'Początek',
    seen: 'Ostatnio',
    acts: 'Czynności',
  },
  unknown: 'nieznane',
  here: 'ta sesja',
  end: 'Zakończ',
  endOthers: 'Zakończ pozostałe sesje',
};

const en: typeof pl = {
  heading: 'You',
  address: 'E-mail address',
  addressHint: 'Codes and links to sign in go to this address.',
  factors: 'Second factor',
  factorsOn: 'Signing in asks for a second factor.',
  factorsOff: 'Whoever reads your e-mail can sign in. A second factor prevents that.',
  factorsOpen: 'Set up the second factor',
  change: 'Change the address',
  accounts: 'Accounts',
  shown: 'open',
  open: 'Open',
  sessions: 'Sessions',
  lead: 'A session ends by itself after 12 hours without use, and after 7 days at the latest.',
  columns: { device: 'Device', place: 'Network address', began: 'Began', seen: 'Last seen', acts: 'Actions' },
  unknown: 'unknown',
  here: 'this session',
  end: 'End',
  endOthers: 'End all other sessions',
};

export const words: Dictionary<typeof pl> = { pl, en };
