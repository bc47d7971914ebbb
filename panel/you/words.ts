import type { Dictionary } from '../language.ts';

const pl = {
  heading: 'Ty',
  address: 'Adres e-mail',
  addressHint: 'Na ten adres wysyłamy kody i linki do logowania.',
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
