import type { Buyer } from '../../domain/parties.ts';
import type { Dictionary } from '../language.ts';

const pl = {
  heading: 'Dane do faktur',
  lead: 'Z tymi danymi powstają faktury za doładowania i rozliczenia. Zmiana dotyczy kolejnych dokumentów; wystawionych nie zmienia.',
  kind: 'Kto kupuje',
  kinds: { company: 'firma', consumer: 'konsument (osoba prywatna)' } satisfies Record<Buyer['kind'], string>,
  nip: 'NIP',
  nipHint: 'Dziesięć cyfr; konsument zostawia puste',
  name: 'Nazwa firmy albo imię i nazwisko',
  street: 'Ulica i numer',
  postalCode: 'Kod pocztowy',
  postalCodeHint: 'Na przykład 00-950',
  city: 'Miejscowość',
  save: 'Zapisz',
  goOn: 'Zapisz i przejdź dalej',
};

const en: typeof pl = {
  heading: 'Invoice details',
  lead: 'Invoices for top-ups and statements are made out with these details. A change applies to documents to come, not to those issued.',
  kind: 'Who buys',
  kinds: { company: 'a company', consumer: 'a consumer (private person)' },
  nip: 'NIP (Polish tax number)',
  nipHint: 'Ten digits; a consumer leaves it empty',
  name: 'Company name, or first and last name',
  street: 'Street and number',
  postalCode: 'Postal code',
  postalCodeHint: 'For example 00-950',
  city: 'City',
  save: 'Save',
  goOn: 'Save and go on',
};

export const words: Dictionary<typeof pl> = { pl, en };
