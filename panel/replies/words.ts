import type { Dictionary } from '../language.ts';

const pl = {
  heading: 'Odpowiedzi',
  title: (number: string) => `Rozmowa z ${number}`,
  receiver: (number: string, keyword: string | null) =>
    keyword === null
      ? `Odpowiedzi przychodzą na numer ${number}.`
      : `Odpowiedzi przychodzą na numer ${number}; nowe rozmowy zaczynają się od słowa ${keyword}.`,
  from: 'Numer',
  shown: 'Pokaż',
  all: 'wszystkie',
  unreadOnly: 'nieprzeczytane',
  none: 'Nikt jeszcze nie odpisał. Odpowiedzi na wiadomości konta pojawią się tutaj.',
  noneFound: 'Żadna odpowiedź nie pasuje do filtrów.',
  notReceiving: 'To konto nie odbiera jeszcze odpowiedzi. Żeby je odbierać, napisz do obsługi.',
  columns: { from: 'Od', text: 'Treść', state: 'Stan', at: 'Kiedy' },
  unread: 'nowa',
  read: 'przeczytana',
  optedOut: 'Odbiorca zrezygnował z wiadomości: od',
  blacklisted: 'Numer jest na czarnej liście: od',
  latestOnly: 'Pokazujemy najnowsze wiadomości.',
  allMessages: 'Wszystkie do tego numeru',
  nothing: 'Z tym numerem nie ma jeszcze żadnej wiadomości.',
  theirs: 'Odbiorca',
  ours: 'Konto',
  details: 'Szczegóły',
  markRead: 'Oznacz jako przeczytane',
  answer: 'Odpisz',
  text: 'Treść',
  next: 'Dalej',
};

const en: typeof pl = {
  heading: 'Replies',
  title: (number: string) => `Conversation with ${number}`,
  receiver: (number: string, keyword: string | null) =>
    keyword === null
      ? `Replies come to the number ${number}.`
      : `Replies come to the number ${number}; new conversations begin with the word ${keyword}.`,
  from: 'Number',
  shown: 'Show',
  all: 'all',
  unreadOnly: 'unread',
  none: 'Nobody has replied yet. Replies to messages of the account appear here.',
  noneFound: 'No reply matches the filters.',
  notReceiving: 'This account receives no replies yet. Contact support to receive them.',
  columns: { from: 'From', text: 'Text', state: 'State', at: 'When' },
  unread: 'new',
  read: 'read',
  optedOut: 'The recipient opted out of messages:',
  blacklisted: 'The number has been on the blacklist since',
  latestOnly: 'The latest messages are shown.',
  allMessages: 'All to this number',
  nothing: 'There is no message with this number yet.',
  theirs: 'Recipient',
  ours: 'Account',
  details: 'Details',
  markRead: 'Mark as read',
  answer: 'Reply',
  text: 'Text',
  next: 'Continue',
};

export const words: Dictionary<typeof pl> = { pl, en };
