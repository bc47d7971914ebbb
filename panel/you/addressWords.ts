import type { Dictionary } from '../language.ts';

const pl = {
  heading: 'Zmiana adresu e-mail',
  lead: 'Na nowy adres wyślemy link. Gdy go otworzysz, będziesz się logować tym adresem, a pozostałe sesje się zakończą.',
  present: 'Teraz',
  waiting: (address: string) => `Wysłaliśmy link na adres ${address}. Działa godzinę.`,
  address: 'Nowy adres e-mail',
  addressFault: 'Wpisz adres e-mail, na przykład jan@sklep.pl.',
  sameFault: 'To jest Twój obecny adres.',
  send: 'Wyślij link',
  unavailable: 'Nie możemy teraz wysłać e-maila. Spróbuj jeszcze raz za kilka minut.',
  limited: {
    address: (at: string) =>
      `Na ten adres wysłaliśmy w ciągu godziny pięć e-maili. Następny można wysłać po godz. ${at}.`,
    asker: (at: string) =>
      `Z tej sieci poproszono już dziś o 20 e-maili. Następny można wysłać po godz. ${at}.`,
    day: (at: string) =>
      `Wysłaliśmy już dziś wszystkie e-maile, które możemy. Następny można wysłać po godz. ${at}.`,
  },
  signInHeading: 'Najpierw się zaloguj',
  signIn: 'Zaloguj się dotychczasowym adresem, a potem otwórz link jeszcze raz.',
  confirmText: (address: string) => `Od teraz będziesz się logować adresem ${address}.`,
  confirm: 'Zmień adres',
  undoHeading: 'Przywrócenie adresu',
  undoText: (address: string) =>
    `Adres ${address} zmieniono niedawno na inny. Przywrócimy go i zakończymy wszystkie sesje; potem zaloguj się nim. Jeśli to Twoja zmiana, zaloguj się nowym adresem.`,
  undo: 'Przywróć adres',
  undone: 'Adres jest przywrócony, a wszystkie sesje zakończone. Sprawdź klucze i zespół konta.',
  overHeading: 'Ten link nie działa',
  over: 'Został użyty, jest za stary albo należy do innej osoby.',
  takenHeading: 'Ten adres ma już ktoś inny',
  taken: 'Nie można go ustawić. Skontaktuj się z obsługą, jeśli to Twój adres.',
  mails: {
    confirm: {
      subject: 'Potwierdź nowy adres w panelu Goniec',
      text: (link: string) =>
        [
          'Dzień dobry,',
          `aby logować się do panelu Goniec tym adresem, otwórz link:\n${link}`,
          'Link działa godzinę, raz, i tylko dla osoby, która o niego poprosiła.',
          'Jeśli to nie Ty, nic nie rób.',
        ].join('\n\n'),
    },
    taken: {
      subject: 'Nowy adres w panelu Goniec',
      text: [
        'Dzień dobry,',
        'ktoś chciał logować się do panelu Goniec tym adresem, ale ma on już własne konto. Nic się nie zmieniło.',
        'Jeśli to Ty, wyloguj się i zaloguj tym adresem.',
      ].join('\n\n'),
    },
    changed: {
      subject: 'Zmieniono adres w panelu Goniec',
      text: (former: string) =>
        [
          'Dzień dobry,',
          `do panelu Goniec logujesz się teraz tym adresem, a nie ${former}.`,
          'Pozostałe sesje zostały zakończone.',
        ].join('\n\n'),
    },
    undo: {
      subject: 'Zmieniono Twój adres w panelu Goniec',
      text: (address: string, link: string) =>
        [
          'Dzień dobry,',
          `do panelu Goniec logujesz się teraz adresem ${address}, a nie tym.`,
          `Jeśli to nie Twoja zmiana, cofnij ją w ciągu 7 dni; zakończy to wszystkie sesje:\n${link}`,
        ].join('\n\n'),
    },
    undone: {
      subject: 'Cofnięto zmianę adresu w panelu Goniec',
      text: (address: string) =>
        [
          'Dzień dobry,',
          `do panelu Goniec logujesz się znowu adresem ${address}, a nie tym: zmianę cofnięto linkiem, który wysłaliśmy na tamten adres.`,
          'Wszystkie sesje zostały zakończone.',
        ].join('\n\n'),
    },
  },
};

const en: typeof pl = {
  heading: 'Change of e-mail address',
  lead: 'We send a link to the new address. Once you open it, you sign in with that address, and all other sessions end.',
  present: 'Now',
  waiting: (address: string) => `We have sent a link to ${address}. It works for an hour.`,
  address: 'New e-mail address',
  addressFault: 'Enter an e-mail address, for example jan@shop.pl.',
  sameFault: 'This is your present address.',
  send: 'Send the link',
  unavailable: 'We cannot send e-mail now. Try again in a few minutes.',
  limited: {
    address: (at: string) =>
      `We have sent five e-mails to this address within an hour. The next one can be sent after ${at}.`,
    asker: (at: string) =>
      `This network has asked for 20 e-mails today. The next one can be sent after ${at}.`,
    day: (at: string) => `All e-mails that we may send today are sent. The next one can be sent after ${at}.`,
  },
  signInHeading: 'Sign in first',
  signIn: 'Sign in with your present address, then open the link again.',
  confirmText: (address: string) => `From now on you sign in with ${address}.`,
  confirm: 'Change the address',
  undoHeading: 'Restore the address',
  undoText: (address: string) =>
    `The address ${address} was changed to another one lately. We restore it and end all sessions; sign in with it afterwards. If the change was yours, sign in with the new address.`,
  undo: 'Restore the address',
  undone: 'The address is restored, and all sessions have ended. Check the keys and the team of the account.',
  overHeading: 'This link does not work',
  over: 'It has been used, is too old, or is for somebody else.',
  takenHeading: 'Somebody else has this address',
  taken: 'It cannot be set. Contact support if it is yours.',
  mails: {
    confirm: {
      subject: 'Confirm your new address in the Goniec panel',
      text: (link: string) =>
        [
          'Hello,',
          `to sign in to the Goniec panel with this address, open the link:\n${link}`,
          'It works for an hour, once, and only for the person who asked for it.',
          'If this was not you, do nothing.',
        ].join('\n\n'),
    },
    taken: {
      subject: 'New address in the Goniec panel',
      text: [
        'Hello,',
        'somebody wanted to sign in to the Goniec panel with this address, but it signs in already. Nothing has changed.',
        'If it was you, sign out, and sign in with this address.',
      ].join('\n\n'),
    },
    changed: {
      subject: 'Address changed in the Goniec panel',
      text: (former: string) =>
        [
          'Hello,',
          `you now sign in to the Goniec panel with this address instead of ${former}.`,
          'All other sessions have ended.',
        ].join('\n\n'),
    },
    undo: {
      subject: 'Your address in the Goniec panel was changed',
      text: (address: string, link: string) =>
        [
          'Hello,',
          `you now sign in to the Goniec panel with ${address} instead of this address.`,
          `If it was not you, undo it within 7 days; this ends all sessions:\n${link}`,
        ].join('\n\n'),
    },
    undone: {
      subject: 'Change of address undone in the Goniec panel',
      text: (address: string) =>
        [
          'Hello,',
          `you sign in to the Goniec panel with ${address} again, instead of this address: the change was undone by a link that we sent there.`,
          'All sessions have ended.',
        ].join('\n\n'),
    },
  },
};

export const words: Dictionary<typeof pl> = { pl, en };
