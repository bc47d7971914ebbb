import type { Dictionary } from '../language.ts';

const pl = {
  heading: 'Potwierdź, że to Ty',
  /** After an e-mail, before anything is open. */
  second: 'Na tym adresie jest włączony drugi składnik logowania.',
  /** Before a form that is about keys, secrets or people. */
  again:
    'Do tej czynności trzeba się zalogować najwyżej 15 minut wcześniej. Potem wrócisz na stronę z formularzem: wyślij go jeszcze raz.',
  code: 'Kod z aplikacji albo kod zapasowy',
  codeHint: 'Sześć cyfr z aplikacji uwierzytelniającej albo jeden z zapisanych kodów zapasowych',
  confirm: 'Potwierdź',
  passkey: 'Użyj klucza dostępu',
  passkeyFailed: 'Klucz dostępu nie zadziałał. Spróbuj jeszcze raz albo wpisz kod.',
  malformed: 'Kod z aplikacji ma sześć cyfr, a zapasowy 16 znaków.',
  wrong: 'Ten kod nie pasuje albo został już użyty.',
  paused:
    'Za dużo błędnych kodów z aplikacji. Następny sprawdzimy za 15 minut. Klucz dostępu i kody zapasowe działają.',
  byEmail: ['Wyślemy kod na adres ', '.'],
  send: 'Wyślij kod',
};

const en: typeof pl = {
  heading: 'Confirm that it is you',
  second: 'A second factor is set up for this address.',
  again:
    'This needs a sign-in within the last 15 minutes. Afterwards you return to the page of the form: send it again.',
  code: 'Code from the app, or a recovery code',
  codeHint: 'Six digits from the authenticator app, or one of the recovery codes that you saved',
  confirm: 'Confirm',
  passkey: 'Use a passkey',
  passkeyFailed: 'The passkey did not work. Try again, or enter a code.',
  malformed: 'A code from the app has six digits, a recovery code 16 characters.',
  wrong: 'This code does not match, or has been used.',
  paused:
    'Too many wrong codes from the app. We check the next one in 15 minutes. Passkeys and recovery codes work.',
  byEmail: ['We send a code to ', '.'],
  send: 'Send the code',
};

export const words: Dictionary<typeof pl> = { pl, en };
