import type { Role } from '../../domain/actor.ts';
import type { Dictionary } from '../language.ts';

const pl = {
  heading: 'Zespół',
  columns: { person: 'Osoba', role: 'Rola', since: 'Od', acts: 'Czynności' },
  you: 'to Ty',
  change: 'Zmień rolę',
  changeText: 'Osoba zostanie wylogowana z tego konta i zaloguje się z nową rolą.',
  remove: 'Usuń',
  removeText: 'Ta osoba od razu straci dostęp do konta.',
  removeNow: 'Usuń z zespołu',
  leave: 'Opuść konto',
  leaveText: 'Stracisz dostęp do tego konta. Wrócisz tylko z nowym zaproszeniem.',
  leaveNow: 'Opuść konto',
  lastOwner: 'Konto musi mieć właściciela. Najpierw nadaj tę rolę komuś innemu.',
  roles: {
    owner: 'właściciel: wszystko, także zespół i aktywność',
    developer: 'programista: wszystko oprócz zespołu i aktywności',
    billing: 'rozliczenia: odczyt',
    reader: 'podgląd: odczyt',
  } satisfies Record<Role, string>,
  invite: 'Zaproś osobę',
  address: 'Adres e-mail',
  addressHint: 'Zaproszenie przyjmie tylko osoba, która zaloguje się tym adresem.',
  role: 'Rola',
  send: 'Wyślij zaproszenie',
  addressFault: 'Wpisz adres e-mail, na przykład jan@sklep.pl.',
  roleFault: 'Wybierz rolę z listy.',
  faults: {
    member: 'Osoba z tym adresem już jest w zespole.',
    invited: 'Na ten adres czeka już zaproszenie. Możesz wysłać je jeszcze raz z listy.',
    invitations_too_many:
      'Konto może mieć 20 otwartych zaproszeń. Wycofaj któreś albo poczekaj, aż ktoś je przyjmie.',
    members_too_many: 'Zespół może mieć 50 osób.',
    unavailable:
      'Nie możemy teraz wysłać e-maila. Zaproszenie jest na liście: wyślij je później jeszcze raz.',
  },
  limited: {
    address: (at: string) =>
      `Na ten adres wysłaliśmy w ciągu godziny pięć e-maili. Następny można wysłać po godz. ${at}.`,
    asker: (at: string) => `Konto wysłało w ciągu doby 20 zaproszeń. Następne można wysłać po godz. ${at}.`,
    day: (at: string) =>
      `Wysłaliśmy już dziś wszystkie e-maile, które możemy. Następne zaproszenie można wysłać po godz. ${at}.`,
  },
  open: 'Otwarte zaproszenia',
  none: 'Żadne zaproszenie nie czeka na przyjęcie.',
  openColumns: { person: 'Adres', role: 'Rola', by: 'Od kogo', expires: 'Ważne do', acts: 'Czynności' },
  nobody: 'usunięta osoba',
  resend: 'Wyślij jeszcze raz',
  withdraw: 'Wycofaj',
  invitation: {
    heading: 'Zaproszenie',
    text: (account: string, role: string) => `Zaproszono Cię do konta ${account}. Twoja rola: ${role}.`,
    accept: 'Przyjmij zaproszenie',
    otherHeading: 'To zaproszenie jest dla kogoś innego',
    other: (address: string) =>
      `Wysłaliśmy je na inny adres niż ${address}. Wyloguj się i zaloguj adresem, na który przyszło.`,
    overHeading: 'To zaproszenie już nie działa',
    over: 'Zostało przyjęte albo wycofane, albo ma więcej niż 7 dni. Przyjęte konto jest na stronie „Ty”; o nowe zaproszenie poproś właściciela konta.',
    member: 'Należysz już do tego konta. Rolę zmienia jego właściciel na stronie „Zespół”.',
    full: 'Zespół tego konta ma już 50 osób. Poproś właściciela, żeby zrobił miejsce.',
  },
  mail: {
    subject: (account: string) => `Zaproszenie do konta ${account} w panelu Goniec`,
    text: ({ inviter, account, role, link }: MailParts) =>
      [
        'Dzień dobry,',
        `${inviter} zaprasza Cię do konta ${account} w panelu Goniec. Twoja rola: ${role}.`,
        `Otwórz link, zaloguj się tym adresem e-mail i przyjmij zaproszenie:\n${link}`,
        'Link działa 7 dni i tylko dla tego adresu.',
        'Jeśli nie znasz tej osoby, nic nie rób.',
      ].join('\n\n'),
  },
};

interface MailParts {
  inviter: string;
  account: string;
  role: string;
  link: string;
}

const en: typeof pl = {
  heading: 'Team',
  columns: { person: 'Person', role: 'Role', since: 'Since', acts: 'Actions' },
  you: 'you',
  change: 'Change role',
  changeText: 'The person is signed out of this account, and signs in again with the new role.',
  remove: 'Remove',
  removeText: 'The person loses access to the account at once.',
  removeNow: 'Remove from the team',
  leave: 'Leave the account',
  leaveText: 'You lose access to this account. Only another invitation brings you back.',
  leaveNow: 'Leave the account',
  lastOwner: 'An account must have an owner. Give somebody else the role first.',
  roles: {
    owner: 'owner: everything, with team and activity',
    developer: 'developer: everything but team and activity',
    billing: 'billing: reading',
    reader: 'reader: reading',
  },
  invite: 'Invite a person',
  address: 'E-mail address',
  addressHint: 'Only who signs in with this address can accept.',
  role: 'Role',
  send: 'Send the invitation',
  addressFault: 'Enter an e-mail address, for example jan@shop.pl.',
  roleFault: 'Choose a role of the list.',
  faults: {
    member: 'The person with this address is in the team already.',
    invited: 'An invitation to this address is open. You can send it again from the list.',
    invitations_too_many:
      'An account can have 20 open invitations. Withdraw one, or wait until one is accepted.',
    members_too_many: 'A team can have 50 people.',
    unavailable: 'We cannot send e-mail now. The invitation is in the list: send it again later.',
  },
  limited: {
    address: (at: string) =>
      `We have sent five e-mails to this address within an hour. The next one can be sent after ${at}.`,
    asker: (at: string) =>
      `The account has sent 20 invitations within a day. The next one can be sent after ${at}.`,
    day: (at: string) =>
      `All e-mails that we may send today are sent. The next invitation can be sent after ${at}.`,
  },
  open: 'Open invitations',
  none: 'No invitation waits to be accepted.',
  openColumns: { person: 'Address', role: 'Role', by: 'Invited by', expires: 'Expires', acts: 'Actions' },
  nobody: 'removed person',
  resend: 'Send again',
  withdraw: 'Withdraw',
  invitation: {
    heading: 'Invitation',
    text: (account: string, role: string) => `You are invited to the account ${account}. Your role: ${role}.`,
    accept: 'Accept the invitation',
    otherHeading: 'This invitation is for somebody else',
    other: (address: string) =>
      `We sent it to another address than ${address}. Sign out, and sign in with the address that it came to.`,
    overHeading: 'This invitation no longer works',
    over: 'It was accepted or withdrawn, or is older than 7 days. An accepted account is on the page “You”; ask the owner of the account for another invitation.',
    member: 'You belong to this account already. Its owner changes roles on the page “Team”.',
    full: 'The team of this account has 50 people already. Ask its owner to make room.',
  },
  mail: {
    subject: (account: string) => `Invitation to the account ${account} in the Goniec panel`,
    text: ({ inviter, account, role, link }: MailParts) =>
      [
        'Hello,',
        `${inviter} invites you to the account ${account} in the Goniec panel. Your role: ${role}.`,
        `Open the link, sign in with this e-mail address, and accept the invitation:\n${link}`,
        'The link works for 7 days, and for this address only.',
        'If you do not know this person, do nothing.',
      ].join('\n\n'),
  },
};

export const words: Dictionary<typeof pl> = { pl, en };
