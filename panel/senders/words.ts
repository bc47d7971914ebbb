import type { Dictionary } from '../language.ts';

const pl = {
  heading: 'Nadawcy',
  current: 'Wiadomość bez podanego nadawcy wychodzi od:',
  ofService: ', wspólnego nadawcy serwisu.',
  active: 'Aktywni nadawcy',
  none: 'Konto nie ma jeszcze własnego nadawcy. Poproś o niego poniżej.',
  isDefault: 'domyślny',
  makeDefault: 'Ustaw jako domyślny',
  unset: 'Nie używaj jako domyślnego',
  requests: 'Prośby o nadawcę',
  columns: { name: 'Nadawca', created: 'Wysłano', purpose: 'Do czego', state: 'Stan' },
  states: { pending: 'czeka na decyzję', approved: 'przyjęta', rejected: 'odrzucona' },
  ask: 'Poproś o nowego nadawcę',
  askText: 'Sprawdzimy, czy możesz wysyłać pod tą nazwą. Decyzję zobaczysz na tej stronie.',
  name: 'Nazwa albo numer',
  nameHint: 'Do 11 liter bez polskich znaków, cyfr, spacji lub znaków . & _ -',
  purpose: 'Do czego będzie służyć',
  purposeHint: 'Na przykład: potwierdzenia zamówień w sklepie sklep.pl; do 500 znaków',
  applicant: 'Do kogo należy ta nazwa',
  applicantHint: 'Firma lub osoba, z numerem NIP, jeśli go ma',
  send: 'Wyślij prośbę',
};

const en: typeof pl = {
  heading: 'Senders',
  current: 'A message that names no sender comes from:',
  ofService: ', the common sender of the service.',
  active: 'Active senders',
  none: 'The account has no sender of its own yet. Ask for one below.',
  isDefault: 'default',
  makeDefault: 'Make it the default',
  unset: 'Stop using it as the default',
  requests: 'Requests',
  columns: { name: 'Sender', created: 'Sent', purpose: 'Purpose', state: 'State' },
  states: { pending: 'waits for a decision', approved: 'approved', rejected: 'rejected' },
  ask: 'Ask for a new sender',
  askText: 'We check whether you may send under this name. The decision appears on this page.',
  name: 'Name or number',
  nameHint: 'Up to 11 letters without diacritics, digits, blanks or . & _ -',
  purpose: 'What it is for',
  purposeHint: 'For example: order confirmations of the shop sklep.pl; up to 500 characters',
  applicant: 'Whose name it is',
  applicantHint: 'The company or person, with the tax number if there is one',
  send: 'Send request',
};

export const words: Dictionary<typeof pl> = { pl, en };
