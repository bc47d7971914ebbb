import type { Dictionary } from '../language.ts';

const mailPl = (what: string) => ({
  subject: 'Zmiana logowania do panelu Goniec',
  text: [
    'Dzień dobry,',
    what,
    'Jeśli to nie Ty, zaloguj się, usuń nieznane składniki i zakończ pozostałe sesje na stronie „Ty”.',
  ].join('\n\n'),
});

const mailEn = (what: string) => ({
  subject: 'Change of your sign-in to the Goniec panel',
  text: [
    'Hello,',
    what,
    'If this was not you, sign in, remove factors that you do not know, and end all other sessions on the page “You”.',
  ].join('\n\n'),
});

const pl = {
  heading: 'Drugi składnik logowania',
  lead: 'Z drugim składnikiem sam dostęp do poczty nie wystarczy, żeby się zalogować. Składnikiem jest aplikacja uwierzytelniająca w telefonie albo klucz dostępu.',
  app: 'Aplikacja uwierzytelniająca',
  appNone: 'Aplikacja w telefonie podaje co 30 sekund nowy kod.',
  appSince: (at: string) => `Dodana: ${at}`,
  addApp: 'Dodaj aplikację',
  passkeys: 'Klucze dostępu',
  passkeysNone:
    'Klucz dostępu (passkey) to odcisk palca, twarz lub PIN tego urządzenia albo klucz sprzętowy.',
  passkeysNowhere: 'Działają tylko wtedy, gdy panel ma nazwę hosta: pod adresem IP nie można ich dodać.',
  columns: { label: 'Nazwa', created: 'Dodany', used: 'Ostatnie użycie', acts: 'Czynności' },
  never: 'nigdy',
  addPasskey: 'Dodaj klucz dostępu',
  remove: 'Usuń',
  removeText: 'Nie zalogujesz się już tym składnikiem.',
  removeNow: 'Usuń składnik',
  recovery: 'Kody zapasowe',
  recoveryLeft: (left: number) =>
    `Niewykorzystane kody: ${left}. Każdy zastępuje raz aplikację i klucz dostępu.`,
  recoveryNone: 'Dziesięć kodów dostaniesz razem z pierwszym składnikiem.',
  renew: 'Zrób nowe kody',
  renewText: 'Wszystkie dotychczasowe kody przestaną działać.',
  renewNow: 'Zrób nowe',
  appHeading: 'Dodaj aplikację uwierzytelniającą',
  scan: 'Zeskanuj kod QR aplikacją (na przykład Aegis, Google Authenticator, 1Password) albo wpisz do niej klucz. Potem podaj kod, który pokaże aplikacja.',
  qr: 'Kod QR z kluczem dla aplikacji',
  secret: 'Klucz dla aplikacji',
  code: 'Kod z aplikacji',
  codeHint: 'Sześć cyfr',
  codeFault: 'Ten kod nie pasuje. Sprawdź zegar telefonu i podaj kod, który widać teraz.',
  appTaken: 'Masz już aplikację. Usuń ją, żeby dodać inną.',
  passkeyHeading: 'Dodaj klucz dostępu',
  passkeyLead: 'Nazwij klucz tak, żeby go potem rozpoznać. Przeglądarka poprosi o resztę.',
  label: 'Nazwa',
  labelHint: 'Na przykład telefon Jana, do 100 znaków',
  labelFault: 'Nadaj kluczowi nazwę, do 100 znaków.',
  without:
    'Ta przeglądarka nie obsługuje kluczy dostępu albo JavaScript jest w niej wyłączony. Dodaj aplikację.',
  passkeyFault: 'Nie udało się dodać klucza dostępu. Spróbuj jeszcze raz.',
  passkeyTaken: 'Ten klucz już jest dodany albo masz ich już dziesięć.',
  codesHeading: 'Kody zapasowe',
  codesText:
    'Zapisz te kody: pokazujemy je tylko teraz. Każdy działa raz, kiedy nie masz telefonu ani klucza dostępu.',
  codes: 'Kody',
  back: 'Wróć do składników logowania',
  added: {
    totp: mailPl('Do logowania dodano aplikację uwierzytelniającą.'),
    passkey: mailPl('Do logowania dodano klucz dostępu.'),
  },
  removed: {
    totp: mailPl('Z logowania usunięto aplikację uwierzytelniającą.'),
    passkey: mailPl('Z logowania usunięto klucz dostępu.'),
  },
  renewed: mailPl('Zrobiono nowe kody zapasowe. Wszystkie dotychczasowe przestały działać.'),
  limited: (at: string) =>
    `Było już za dużo zmian albo e-maili o nich. Następną zmianę możesz zrobić po godz. ${at}.`,
};

const en: typeof pl = {
  heading: 'Second factor',
  lead: 'With a second factor, access to your mailbox alone does not sign in. It is an authenticator app on your phone, or a passkey.',
  app: 'Authenticator app',
  appNone: 'An app on your phone shows a new code every 30 seconds.',
  appSince: (at) => `Added: ${at}`,
  addApp: 'Add an app',
  passkeys: 'Passkeys',
  passkeysNone: 'A passkey is the fingerprint, face or PIN of this device, or a security key.',
  passkeysNowhere: 'They work only where the panel has a host name, not at an IP address.',
  columns: { label: 'Name', created: 'Added', used: 'Last used', acts: 'Actions' },
  never: 'never',
  addPasskey: 'Add a passkey',
  remove: 'Remove',
  removeText: 'You will no longer sign in with this factor.',
  removeNow: 'Remove the factor',
  recovery: 'Recovery codes',
  recoveryLeft: (left) => `Codes left: ${left}. Each takes the place of app and passkey once.`,
  recoveryNone: 'You get ten codes with the first factor.',
  renew: 'Make new codes',
  renewText: 'All present codes stop working.',
  renewNow: 'Make new ones',
  appHeading: 'Add an authenticator app',
  scan: 'Scan the QR code with the app (for example Aegis, Google Authenticator, 1Password), or enter the key there. Then enter the code that the app shows.',
  qr: 'QR code with the key for the app',
  secret: 'Key for the app',
  code: 'Code from the app',
  codeHint: 'Six digits',
  codeFault: 'This code does not match. Check the clock of the phone, and enter the code that it shows now.',
  appTaken: 'You have an app already. Remove it to add another.',
  passkeyHeading: 'Add a passkey',
  passkeyLead: 'Name it so that you know it again. The browser asks for the rest.',
  label: 'Name',
  labelHint: 'For example Jan’s phone, up to 100 characters',
  labelFault: 'Give the passkey a name of up to 100 characters.',
  without: 'This browser has no passkeys, or JavaScript is off. Add an app.',
  passkeyFault: 'The passkey could not be added. Try again.',
  passkeyTaken: 'This passkey is there already, or you have ten.',
  codesHeading: 'Recovery codes',
  codesText:
    'Save these codes: they are shown only now. Each works once, when you have neither phone nor passkey.',
  codes: 'Codes',
  back: 'Back to the factors',
  added: {
    totp: mailEn('An authenticator app has been added to your sign-in.'),
    passkey: mailEn('A passkey has been added to your sign-in.'),
  },
  removed: {
    totp: mailEn('The authenticator app has been removed from your sign-in.'),
    passkey: mailEn('A passkey has been removed from your sign-in.'),
  },
  renewed: mailEn('New recovery codes have been made. All former ones have stopped working.'),
  limited: (at) =>
    `There have been too many changes, or e-mails about them. You can make the next one after ${at}.`,
};

export const words: Dictionary<typeof pl> = { pl, en };
