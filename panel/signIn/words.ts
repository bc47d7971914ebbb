import type { Dictionary } from '../language.ts';

const pl = {
  heading: 'Zaloguj się lub załóż konto',
  lead: 'Podaj adres e-mail. Wyślemy kod i link do zalogowania; hasła nie ma. Nowe konto testowe ma 25 bezpłatnych wiadomości.',
  address: 'Adres e-mail',
  addressHint: 'Na przykład jan@sklep.pl',
  addressFault: 'Wpisz adres e-mail, na przykład jan@sklep.pl.',
  send: 'Wyślij kod',
  codeHeading: 'Sprawdź pocztę',
  /** Around the address. */
  sentTo: ['Na adres ', ' wysłaliśmy kod i link. Działają 15 minut.'],
  code: 'Kod z e-maila',
  codeHint: 'Sześć cyfr z ostatniej wiadomości',
  codeFault: 'Kod ma sześć cyfr.',
  codeWrong: (left: number) => `To nie ten kod. Pozostałe próby: ${left}.`,
  codeOver: 'Ten kod już nie działa. Użyj linku z e-maila albo poproś o nowy kod.',
  signIn: 'Zaloguj',
  nothingText:
    'Nic nie przyszło? Zajrzyj do spamu i sprawdź adres. Jeśli jest dobry, wyślij kod jeszcze raz.',
  again: 'Wyślij jeszcze raz',
  otherAddress: 'Podaj inny adres',
  linkHeading: 'Zalogować?',
  linkText: ['Zalogujesz się w tej przeglądarce jako ', '.'],
  usedHeading: 'Ten link został już użyty',
  expiredHeading: 'Ten link jest za stary',
  unknownHeading: 'Ten link nie działa',
  overText: 'Link loguje raz i przez 15 minut. Poproś o nowy.',
  unknownText: 'Sprawdź, czy adres jest cały: taki jak w e-mailu. Możesz też poprosić o nowy link.',
  limitedHeading: 'Za dużo e-maili',
  limited: {
    address: (at: string) =>
      `Na ten adres wysłaliśmy w ciągu godziny pięć e-maili. Użyj linku z ostatniego albo poproś o następny po godz. ${at}.`,
    asker: (at: string) =>
      `Z tej sieci poproszono już dziś o 20 e-maili. Następny możesz dostać po godz. ${at}.`,
    day: (at: string) =>
      `Wysłaliśmy już dziś wszystkie e-maile do logowania, które możemy. Następny możesz dostać po godz. ${at}.`,
  },
  closedHeading: 'Nowych kont teraz nie zakładamy',
  closed:
    'Jeśli podany adres ma już konto, kod i link są w drodze. Nowe konto możesz założyć jutro: dziś zgłosiło się za dużo osób.',
  stopped:
    'Jeśli podany adres ma już konto, kod i link są w drodze. Zakładanie nowych kont jest teraz wstrzymane.',
  unavailableHeading: 'Nie możemy teraz wysłać e-maila',
  unavailable: 'Spróbuj jeszcze raz za kilka minut.',
  accountsHeading: 'Za dużo nowych kont',
  accounts: 'Z tej sieci założono już dziś pięć kont. Spróbuj jutro: poprosisz o nowy link.',
  mail: {
    subject: 'Logowanie do panelu Goniec',
    text: (code: string, link: string) =>
      [
        'Dzień dobry,',
        `kod do zalogowania: ${code}`,
        `Wpisz go tam, gdzie o niego poproszono, albo otwórz link:\n${link}`,
        'Kod i link działają 15 minut, raz. Nie podawaj ich nikomu: nigdy o nie nie pytamy.',
        'Jeśli to nie Ty, nic nie rób. Bez nich nikt się nie zaloguje.',
      ].join('\n\n'),
  },
};

const en: typeof pl = {
  heading: 'Sign in or sign up',
  lead: 'Enter your e-mail address. We send a code and a link to sign in; there is no password. A new test account has 25 free messages.',
  address: 'E-mail address',
  addressHint: 'For example jan@shop.pl',
  addressFault: 'Enter an e-mail address, for example jan@shop.pl.',
  send: 'Send the code',
  codeHeading: 'Check your e-mail',
  sentTo: ['We have sent a code and a link to ', '. They work for 15 minutes.'],
  code: 'Code from the e-mail',
  codeHint: 'Six digits from the latest message',
  codeFault: 'The code has six digits.',
  codeWrong: (left: number) => `This is not the code. Tries left: ${left}.`,
  codeOver: 'This code no longer works. Use the link in the e-mail, or ask for a new code.',
  signIn: 'Sign in',
  nothingText:
    'Nothing has come? Look into spam, and check the address. If it is right, send the code again.',
  again: 'Send again',
  otherAddress: 'Enter another address',
  linkHeading: 'Sign in?',
  linkText: ['You will sign in, in this browser, as ', '.'],
  usedHeading: 'This link has been used',
  expiredHeading: 'This link is too old',
  unknownHeading: 'This link does not work',
  overText: 'A link signs in once, within 15 minutes. Ask for a new one.',
  unknownText: 'Check that the address is whole, as in the e-mail. You can also ask for a new link.',
  limitedHeading: 'Too many e-mails',
  limited: {
    address: (at: string) =>
      `We have sent five e-mails to this address within an hour. Use the link in the latest, or ask for another after ${at}.`,
    asker: (at: string) =>
      `This network has asked for 20 e-mails today. You can get the next one after ${at}.`,
    day: (at: string) =>
      `All e-mails to sign in by that we may send today are sent. You can get the next one after ${at}.`,
  },
  closedHeading: 'No new accounts at the moment',
  closed:
    'If there is an account with the address, the code and the link are on their way. You can open a new account tomorrow: too many people asked today.',
  stopped:
    'If there is an account with the address, the code and the link are on their way. New accounts cannot be opened at the moment.',
  unavailableHeading: 'We cannot send e-mail now',
  unavailable: 'Try again in a few minutes.',
  accountsHeading: 'Too many new accounts',
  accounts: 'Five accounts have been opened from this network today. Try tomorrow, with a new link.',
  mail: {
    subject: 'Sign in to the Goniec panel',
    text: (code: string, link: string) =>
      [
        'Hello,',
        `your code to sign in: ${code}`,
        `Enter it where it was asked for, or open the link:\n${link}`,
        'Code and link work for 15 minutes, once. Give them to nobody: we never ask for them.',
        'If this was not you, do nothing. Nobody can sign in without them.',
      ].join('\n\n'),
  },
};

export const words: Dictionary<typeof pl> = { pl, en };
