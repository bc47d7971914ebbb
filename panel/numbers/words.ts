import type { Dictionary } from '../language.ts';

const pl = {
  heading: 'Własne numery',
  lead: {
    test: 'Konto testowe wysyła tylko na własne numery, najwyżej dwa. Numer potwierdzasz kodem z SMS-a, który nic nie kosztuje.',
    live: 'Twoje konto wysyła na każdy numer. Tu są numery, które potwierdziliście jako własne, najwyżej dwa.',
  },
  none: 'Nie ma jeszcze żadnego numeru. Dodaj swój: wyślemy na niego kod.',
  columns: { number: 'Numer', at: 'Potwierdzono', acts: 'Czynności' },
  remove: 'Usuń',
  removeText: 'Konto testowe nie wyśle już nic na ten numer, dopóki nie potwierdzisz go znowu.',
  removeNow: 'Usuń numer',
  codeHeading: 'Wpisz kod z SMS-a',
  /** Around the number. */
  sentTo: ['Na numer ', ' wysłaliśmy kod. Działa 10 minut.'],
  code: 'Kod',
  codeHint: 'Sześć cyfr',
  codeFault: 'Kod ma sześć cyfr.',
  codeWrong: (left: number) => `To nie ten kod. Pozostałe próby: ${left}.`,
  codeOver: 'Ten kod już nie działa. Poproś o nowy.',
  confirm: 'Potwierdź numer',
  nothing: 'Nic nie przyszło? Sprawdź numer. Jeśli jest dobry, wyślij kod jeszcze raz.',
  again: 'Wyślij kod jeszcze raz',
  add: 'Dodaj numer',
  to: 'Numer telefonu',
  toHint: 'Polski numer komórkowy, na przykład 500 100 200',
  faults: {
    not_mobile:
      'Wpisz polski numer komórkowy, na przykład 500 100 200. Na inne numery (zagraniczne, stacjonarne, premium) kodów nie wysyłamy.',
    elsewhere: 'Ten numer potwierdzono już na trzech kontach. Podaj inny.',
  },
  send: 'Wyślij kod',
  full: 'Konto ma już dwa numery. Aby dodać inny, usuń jeden z nich.',
  off: 'Numery potwierdza obsługa: napisz do niej, jaki numer dodać.',
  notSent: 'Kod nie został wysłany',
  unavailable: 'Nie możemy teraz wysłać SMS-a z kodem. Spróbuj za kilka minut albo napisz do obsługi.',
  limited: {
    number: (at: string) =>
      `Na ten numer wysłaliśmy już tyle kodów, ile można: trzy w ciągu dnia. Następny po godz. ${at}.`,
    account: (at: string) =>
      `Dla tego konta wysłaliśmy już dziś dziesięć kodów. Następny możesz dostać po godz. ${at}.`,
    network: (at: string) =>
      `Z tej sieci podano już dziś pięć numerów. Następny możesz podać po godz. ${at}.`,
    day: (at: string) =>
      `Wysłaliśmy już dziś wszystkie kody, które możemy. Poproś o kod po godz. ${at} albo napisz do obsługi.`,
  },
  back: 'Wróć do numerów',
};

const en: typeof pl = {
  heading: 'Own numbers',
  lead: {
    test: 'A test account sends to its own numbers only, two at most. You confirm a number by a code in an SMS, which costs nothing.',
    live: 'Your account sends to any number. Here are those that you have confirmed as your own, two at most.',
  },
  none: 'There is no number yet. Add yours: we send a code to it.',
  columns: { number: 'Number', at: 'Confirmed', acts: 'Actions' },
  remove: 'Remove',
  removeText: 'A test account sends nothing more to this number until you confirm it again.',
  removeNow: 'Remove number',
  codeHeading: 'Enter the code from the SMS',
  sentTo: ['We have sent a code to ', '. It works for 10 minutes.'],
  code: 'Code',
  codeHint: 'Six digits',
  codeFault: 'The code has six digits.',
  codeWrong: (left: number) => `This is not the code. Guesses left: ${left}.`,
  codeOver: 'This code works no more. Ask for a new one.',
  confirm: 'Confirm number',
  nothing: 'Nothing came? Check the number. If it is right, send the code again.',
  again: 'Send the code again',
  add: 'Add a number',
  to: 'Phone number',
  toHint: 'A Polish mobile number, for example 500 100 200',
  faults: {
    not_mobile:
      'Enter a Polish mobile number, for example 500 100 200. We send no codes to others (foreign, landline, premium).',
    elsewhere: 'This number has been confirmed in three accounts already. Enter another one.',
  },
  send: 'Send code',
  full: 'The account has two numbers. To add another, remove one of them.',
  off: 'Support confirms numbers: tell them which one to add.',
  notSent: 'The code was not sent',
  unavailable: 'We cannot send an SMS with a code now. Try again in a few minutes, or write to support.',
  limited: {
    number: (at: string) =>
      `We have sent as many codes to this number as we may: three in a day. The next one after ${at}.`,
    account: (at: string) =>
      `We have sent ten codes for this account today. You can get the next one after ${at}.`,
    network: (at: string) =>
      `This network has asked for five numbers today. You can enter the next one after ${at}.`,
    day: (at: string) =>
      `All codes that we may send today are sent. Ask for one after ${at}, or write to support.`,
  },
  back: 'Back to the numbers',
};

export const words: Dictionary<typeof pl> = { pl, en };
