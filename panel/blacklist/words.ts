import type { Dictionary } from '../language.ts';

const pl = {
  heading: 'Czarna lista',
  lead: 'Te numery nie dostają żadnych wiadomości z konta. Kto zrezygnuje linkiem albo odpowiedzią STOP, trafia tu sam.',
  number: 'Numer',
  anyReason: 'każdy',
  reasons: { opt_out: 'odbiorca zrezygnował', manual: 'dodany ręcznie' },
  none: 'Czarna lista jest pusta.',
  noneFound: 'Na czarnej liście nie ma takiego wpisu.',
  columns: { number: 'Numer', reason: 'Powód', since: 'Od', until: 'Do', acts: 'Czynności' },
  never: 'bez końca',
  remove: 'Usuń',
  removeText: 'Wiadomości z konta znowu będą docierać na ten numer.',
  removeOptOutText: 'Odbiorca sam zrezygnował. Usuń go z listy tylko na jego prośbę.',
  removeNow: 'Usuń z listy',
  add: 'Dodaj numery do czarnej listy',
  fields: { msisdns: 'Numery', reason: 'Powód', expires_at: 'Ostatni dzień' },
  hints: {
    msisdns: 'Każdy w osobnym wierszu albo po przecinku, do 1000 naraz.',
    reason: 'Do 200 znaków. Puste: dodany ręcznie.',
    expires_at: 'Puste: bez końca.',
  },
  addNow: 'Dodaj do listy',
  invalid: (added: number, invalid: string) => `Dodane: ${added}. To nie są numery telefonu: ${invalid}.`,
};

const en: typeof pl = {
  heading: 'Blacklist',
  lead: 'These numbers get no messages from the account. Who opts out by the link or by replying STOP is listed automatically.',
  number: 'Number',
  anyReason: 'any',
  reasons: { opt_out: 'the recipient opted out', manual: 'added by hand' },
  none: 'The blacklist is empty.',
  noneFound: 'There is no such entry on the blacklist.',
  columns: { number: 'Number', reason: 'Reason', since: 'Since', until: 'Until', acts: 'Actions' },
  never: 'no end',
  remove: 'Remove',
  removeText: 'Messages of the account will reach this number again.',
  removeOptOutText: 'The recipient opted out. Remove the number only at the recipient’s own request.',
  removeNow: 'Remove from the list',
  add: 'Add numbers to the blacklist',
  fields: { msisdns: 'Numbers', reason: 'Reason', expires_at: 'Last day' },
  hints: {
    msisdns: 'One per line or separated by commas, up to 1,000 at once.',
    reason: 'Up to 200 characters. Empty: added by hand.',
    expires_at: 'Empty: no end.',
  },
  addNow: 'Add to the list',
  invalid: (added: number, invalid: string) => `Added: ${added}. These are no phone numbers: ${invalid}.`,
};

export const words: Dictionary<typeof pl> = { pl, en };
