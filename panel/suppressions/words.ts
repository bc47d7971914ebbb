import type { Dictionary } from '../language.ts';

const pl = {
  heading: 'Lista wykluczeń',
  lead: 'Na te adresy nie wysyłamy e-maili konta. Trafiają tu po trwałym odbiciu, zgłoszeniu spamu i rezygnacji.',
  reason: 'Powód',
  anyReason: 'wszystkie',
  reasons: {
    bounce: 'adres nie przyjmuje poczty',
    complaint: 'zgłoszenie spamu',
    unsubscribe: 'rezygnacja',
    manual: 'dodany ręcznie',
  },
  columns: { address: 'Adres', reason: 'Powód', created: 'Od', acts: 'Czynności' },
  none: 'Na liście nie ma żadnego adresu.',
  email: 'zobacz e-mail',
  remove: 'Usuń z listy',
  removeText:
    'Ten adres znowu będzie dostawał e-maile. Nie rób tego bez zgody osoby, która zrezygnowała albo zgłosiła spam.',
  removeNow: 'Usuń teraz',
  add: 'Dodaj adresy',
  addresses: 'Adresy e-mail',
  addressesHint: 'do 1000, każdy w osobnym wierszu',
  addNow: 'Dodaj do listy',
  back: 'E-mail',
};

const en: typeof pl = {
  heading: 'Suppression list',
  lead: 'No e-mail of the account goes to these addresses. They come here after a permanent bounce, a spam report or an unsubscribe.',
  reason: 'Reason',
  anyReason: 'all',
  reasons: {
    bounce: 'does not take e-mail',
    complaint: 'spam report',
    unsubscribe: 'unsubscribed',
    manual: 'added by hand',
  },
  columns: { address: 'Address', reason: 'Reason', created: 'Since', acts: 'Actions' },
  none: 'There is no address on the list.',
  email: 'see the e-mail',
  remove: 'Take off the list',
  removeText:
    'This address gets e-mails again. Do not do this without the consent of a person who unsubscribed or reported spam.',
  removeNow: 'Take off now',
  add: 'Add addresses',
  addresses: 'E-mail addresses',
  addressesHint: 'up to 1,000, each on a line of its own',
  addNow: 'Add to the list',
  back: 'E-mail',
};

export const words: Dictionary<typeof pl> = { pl, en };
