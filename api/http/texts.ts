import { HEADER_VALUE_MAX } from '../../domain/email/content.ts';
import type { QuotaName } from '../../domain/money.ts';
import type { OfReason, SmilFault } from '../../domain/refusals.ts';
import { codePointName, firstUnseen, withUnseen } from '../../domain/text.ts';
import type { Problem, Reason } from './refusals.ts';

const TYPES: Readonly<Record<string, string>> = {
  string: 'tekstem',
  boolean: 'wartością true lub false',
  number: 'liczbą',
  int: 'liczbą całkowitą',
  integer: 'liczbą całkowitą',
  array: 'tablicą',
  object: 'obiektem',
  record: 'obiektem',
  'string or array': 'tekstem albo tablicą tekstów',
  'string or number': 'tekstem albo liczbą',
  'string or null': 'tekstem albo wartością null',
};

type Unit = Extract<Problem, { unit: string }>['unit'];

const TOO_SHORT: Readonly<Record<Unit, (limit: number) => string>> = {
  characters: (limit) => `jest za krótkie (minimum znaków: ${limit})`,
  items: (limit) => `ma za mało elementów (co najmniej ${limit})`,
  value: (limit) => `musi wynosić co najmniej ${limit}`,
};
const TOO_LONG: Readonly<Record<Unit, (limit: number) => string>> = {
  characters: (limit) => `jest za długie (maksimum znaków: ${limit})`,
  items: (limit) => `ma za dużo elementów (najwyżej ${limit})`,
  value: (limit) => `musi wynosić najwyżej ${limit}`,
};

const CSV_SAVED = 'Zapisz plik z arkusza jako „CSV UTF-8 (rozdzielany przecinkami)”.';
const NUMBER_FORMS = '+48500100200, 48500100200 albo 500100200, bez spacji';
const TOO_LONG_FOR_POLAND =
  'wygląda na polski z jedną cyfrą za dużo. Jeśli jest zagraniczny, zapisz go ze znakiem plus.';
const pln = (grosze: number): string => `${(grosze / 100).toFixed(2).replace('.', ',')} zł`;
const megabytes = (octets: number): string => String(octets / 1_000_000).replace('.', ',');

const QUOTA_TEXTS: Readonly<Record<QuotaName, (limit: number) => string>> = {
  contacts: (limit) => `Konto może mieć najwyżej tyle kontaktów: ${limit}. Usuń niepotrzebne`,
  contact_bytes: (limit) =>
    `Dane wszystkich kontaktów konta mogą zajmować łącznie najwyżej ${megabytes(limit)} MB. Skróć je, usuń niepotrzebne kontakty`,
  groups: (limit) => `Konto może mieć najwyżej tyle grup: ${limit}. Usuń niepotrzebne`,
  memberships: (limit) =>
    `Konto może mieć najwyżej tyle przypisań kontaktów do grup: ${limit}. Usuń niepotrzebne grupy lub przypisania`,
  templates: (limit) => `Konto może mieć najwyżej tyle szablonów: ${limit}. Usuń niepotrzebne`,
  template_bytes: (limit) =>
    `Treści wszystkich szablonów konta mogą zajmować łącznie najwyżej ${megabytes(limit)} MB. Usuń niepotrzebne szablony`,
  blacklist: (limit) => `Czarna lista konta może mieć najwyżej tyle numerów: ${limit}. Usuń niepotrzebne`,
  suppressions: (limit) => `Lista wykluczeń może mieć najwyżej tyle adresów: ${limit}. Usuń niepotrzebne`,
  email_file_bytes: (limit) =>
    `Załączniki e-maili konta, które czekają na wysłanie, mogą zajmować łącznie najwyżej ${megabytes(limit)} MB. Poczekaj, aż część zostanie wysłana`,
  scheduled_messages: (limit) =>
    `Konto może mieć naraz najwyżej tyle zaplanowanych wiadomości: ${limit}. Poczekaj, aż część zostanie wysłana, anuluj niepotrzebne`,
  links: (limit) =>
    `Konto może mieć najwyżej tyle linków śledzonych: ${limit}. Użyj adresów, do których odbiorcy mają już linki`,
  unpaid_messages: (limit) =>
    `W ciągu 24 godzin konto może mieć najwyżej tyle wiadomości odrzuconych lub anulowanych: ${limit}. ` +
    'Pomiń numery z czarnej listy, wyślij bez planowania, spróbuj później',
  unpaid_bytes: (limit) =>
    `W ciągu 24 godzin treści wiadomości odrzuconych lub anulowanych mogą zajmować łącznie najwyżej ${megabytes(limit)} MB. ` +
    'Pomiń numery z czarnej listy, wyślij bez planowania, spróbuj później',
};

const SMIL_TEXTS: Readonly<Record<SmilFault, (name: string | null) => string>> = {
  not_xml: () => 'to nie jest poprawny dokument XML',
  construct: () => 'DOCTYPE, instrukcje przetwarzania, komentarze i CDATA nie są dozwolone',
  element: (name) => `element ${quoted(name ?? '')} nie może tu stać`,
  attribute: (name) => `atrybut ${quoted(name ?? '')} nie jest tu dozwolony`,
  placeholder: () => 'pola „{{…}}” mogą stać tylko w treści elementu „text”',
  source_missing: (name) => `element ${quoted(name ?? '')} musi mieć atrybut „src”`,
  source_address: () =>
    '„src” musi być publicznym adresem https, bez danych logowania i najwyżej 2000 znaków',
  text_misplaced: () => 'tekst może stać tylko w elemencie „text”',
  too_deep: () => 'elementy są zagnieżdżone za głęboko (najwyżej 8 poziomów)',
  too_large: () => 'za dużo elementów (najwyżej 200, w tym 50 obrazów, dźwięków, filmów i tekstów)',
  body_missing: () => 'brak elementu „body”',
  media_missing: () => 'brak obrazu, dźwięku, filmu lub tekstu',
};

type Sentences = { readonly [R in Reason]: string | ((problem: OfReason<Problem, R>) => string) };

const SENTENCES: Sentences = {
  key_missing: 'Brak klucza API. Podaj go w nagłówku „Authorization: Bearer <klucz>”.',
  key_invalid: 'Klucz API jest nieprawidłowy albo został unieważniony.',
  account_suspended: 'Konto jest zawieszone.',
  account_closed: 'Konto jest zamknięte.',
  account_not_migrated: 'Konto nie zostało jeszcze przeniesione do panelu.',
  test_key_on_live_account:
    'Klucz testowy na aktywnym koncie może tylko odczytywać dane. Użyj klucza produkcyjnego.',
  scope_missing: ({ scope }) => `Klucz API nie ma wymaganego uprawnienia „${scope}”.`,
  rate_limited: ({ seconds }) => `Przekroczono limit żądań na minutę. Spróbuj ponownie za ${seconds} s.`,
  too_many_at_once: ({ limit }) =>
    `Konto ma już tyle żądań w toku, ile może mieć jednocześnie: ${limit}. Spróbuj ponownie za chwilę.`,
  too_many_heavy_at_once: ({ limit }) =>
    `Konto ma już w toku tyle dużych żądań (duże treści, raporty, eksporty), ile może mieć jednocześnie: ${limit}. ` +
    'Spróbuj ponownie za chwilę.',
  route_unknown: 'Nie ma takiego adresu.',
  resource_unknown: 'Nie znaleziono zasobu.',
  message_unknown: 'Nie znaleziono wiadomości o podanym identyfikatorze.',
  group_unknown: ({ group }) => `Nie znaleziono grupy ${quoted(group)}.`,
  method_not_allowed: ({ method, allowed }) =>
    `Metoda ${method} nie jest tu obsługiwana. Dozwolone: ${allowed.join(', ')}.`,
  too_large: ({ limitBytes }) => `Treść żądania jest za duża (limit: ${Math.floor(limitBytes / 1024)} kB).`,
  content_type_unsupported: ({ types }) => `Treść żądania musi mieć typ ${types.join(' albo ')}.`,
  charset_unsupported: 'Treść żądania musi być zapisana w kodowaniu UTF-8.',
  content_encoding_unsupported: 'Skompresowana treść żądania nie jest obsługiwana.',
  request_malformed: 'Żądanie nie jest poprawnym żądaniem HTTP.',
  host_missing: 'Brak nagłówka Host.',
  expectation_unsupported: 'Nagłówek Expect może mieć tylko wartość 100-continue.',
  headers_too_large: 'Nagłówki żądania są za duże.',
  request_too_slow: 'Żądanie nie dotarło w całości na czas.',
  body_aborted: 'Treść żądania nie dotarła w całości.',
  body_missing: 'Brak treści żądania.',
  body_not_utf8: 'Treść żądania nie jest poprawnym tekstem UTF-8.',
  body_not_json: 'Treść żądania nie jest poprawnym dokumentem JSON.',
  body_too_deep: ({ limit }) => `Treść żądania jest zagnieżdżona za głęboko (najwyżej poziomów: ${limit}).`,
  body_too_many_keys: ({ limit }) => `Obiekt w treści żądania ma za dużo pól (najwyżej ${limit}).`,
  body_too_many_items: ({ limit }) => `Tablica w treści żądania ma za dużo elementów (najwyżej ${limit}).`,
  body_too_many_values: ({ limit }) => `Treść żądania ma za dużo wartości (najwyżej ${limit}).`,
  key_too_long: ({ limit }) => `Nazwa pola w treści żądania jest za długa (maksimum znaków: ${limit}).`,
  field_repeated: ({ field }) => `Pole ${quoted(field)} podano więcej niż raz.`,
  body_not_object: 'Treść żądania musi być obiektem JSON.',
  field_missing: ({ field }) => `Brak wymaganego pola ${quoted(field)}.`,
  field_unknown: ({ field }) => `Nieznane pole ${quoted(field)}.`,
  field_malformed: ({ field }) => `Pole ${quoted(field)} ma nieprawidłową wartość.`,
  field_blank: ({ field }) => `W polu ${quoted(field)} nie ma nic, co widać.`,
  parameter_unknown: ({ field }) => `Nieznany parametr ${quoted(field)}.`,
  plus_not_encoded: ({ field }) =>
    `Parametr ${quoted(field)} ma spację w miejscu znaku plus: w adresie zapisuje się go jako %2B.`,
  query_repeated: ({ field }) => `Parametr ${quoted(field)} podano więcej niż raz.`,
  field_type: ({ field, expected }) => `Pole ${quoted(field)} musi być ${TYPES[expected] ?? 'innego typu'}.`,
  field_too_short: ({ field, unit, limit }) => `Pole ${quoted(field)} ${TOO_SHORT[unit](limit)}.`,
  field_too_long: ({ field, unit, limit }) => `Pole ${quoted(field)} ${TOO_LONG[unit](limit)}.`,
  number_out_of_range: ({ field, min, max }) =>
    `Pole ${quoted(field)} musi być liczbą całkowitą od ${min} do ${max}.`,
  one_of: ({ field, values }) => `Pole ${quoted(field)} musi mieć jedną z wartości: ${values.join(', ')}.`,
  characters_forbidden: ({ field }) => `Pole ${quoted(field)} zawiera niedozwolone znaki.`,
  idempotency_key_length: 'Nagłówek Idempotency-Key musi mieć od 1 do 128 znaków.',
  idempotency_key_repeated: 'Nagłówek Idempotency-Key podano więcej niż raz.',
  idempotency_other_content: 'Ten sam Idempotency-Key został już użyty z inną treścią żądania.',
  idempotency_in_progress: 'Żądanie z tym samym Idempotency-Key jest jeszcze w toku. Ponów je za chwilę.',
  recipient_malformed: ({ index }) =>
    `Nieprawidłowy numer odbiorcy${place(index)}. Podaj go w postaci ${NUMBER_FORMS}, albo grupę: group:nazwa.`,
  recipient_too_long: ({ index }) => `Numer odbiorcy${place(index)} ${TOO_LONG_FOR_POLAND}`,
  number_malformed: ({ field }) => `Pole „${field}” musi być numerem telefonu: ${NUMBER_FORMS}.`,
  polish_number_too_long: ({ field }) => `Numer w polu „${field}” ${TOO_LONG_FOR_POLAND}`,
  recipients_empty: 'Podaj co najmniej jednego odbiorcę.',
  recipients_malformed: ({ positions }) =>
    `Nieprawidłowe numery odbiorców: ${positions.length}. Pierwszy stoi na liście na pozycji ${positions[0]}. Podaj je w postaci ${NUMBER_FORMS}.`,
  recipients_too_many: ({ limit }) => `Za dużo odbiorców w jednym żądaniu (najwyżej ${limit}).`,
  recipient_unverified: ({ index }) =>
    `Konto testowe wysyła tylko na zweryfikowane numery; ten numer nie jest zweryfikowany${place(index)}.`,
  no_route: ({ index }) => `Wysyłka na ten numer nie jest dostępna${place(index)}.`,
  sender_inactive: ({ sender }) => `Nadawca ${quoted(sender)} nie jest aktywny na liście nadawców konta.`,
  sender_malformed: ({ field }) =>
    `Pole ${quoted(field)} musi być nazwą nadawcy (od 1 do 11 znaków: litery bez polskich znaków, cyfry, ` +
    'spacja, kropka, &, _ lub -) albo numerem od 3 do 15 cyfr.',
  group_empty: ({ group }) => `Grupa ${quoted(group)} jest pusta.`,
  groups_too_many: ({ limit }) => `Za dużo grup w jednym żądaniu (najwyżej ${limit}).`,
  text_too_long: ({ index, isMore, parts, limit }) =>
    `Treść wiadomości jest za długa${place(index)}: części ${isMore === true ? 'co najmniej ' : ''}${parts}, najwyżej ${limit}.`,
  text_not_gsm7: ({ character, position, index }) =>
    `Treść zawiera znak spoza alfabetu GSM-7: ${quoted(character)} (${codePointName(character)}, znak ${position} treści)${place(index)}.`,
  text_blank: 'Treść wiadomości nie może składać się z samych odstępów.',
  text_empty: ({ index }) => `Treść wiadomości jest pusta po podstawieniu danych${place(index)}.`,
  link_malformed: ({ source, position }) =>
    `Nieprawidłowy link śledzony ${braced(source)} (znak ${position} treści): po „link:” podaj pełny ` +
    'adres http albo https, bez spacji i najwyżej 2000 bajtów, a po nim „}}”.',
  placeholder_malformed: ({ source, position }) =>
    `Nieprawidłowe pole ${braced(source)} (znak ${position} treści): między „{{” i „}}” może stać ` +
    'tylko nazwa z liter, cyfr i znaków podkreślenia albo „link:” z adresem.',
  links_too_many: ({ limit }) => `Wiadomość może zawierać najwyżej ${limit} różne adresy śledzone.`,
  placeholders_too_many: ({ limit }) =>
    `Wiadomość może zawierać łącznie najwyżej ${limit} pola z kontaktów, linki śledzone i link rezygnacji.`,
  template_unknown: 'Nie znaleziono szablonu o podanym identyfikatorze.',
  template_type: ({ channel }) => `Szablon nie jest typu „${channel}”.`,
  smil_malformed: ({ line, what, name }) =>
    `Dokument SMIL jest nieprawidłowy (wiersz ${line}): ${SMIL_TEXTS[what](name)}.`,
  links_unheard: 'Treść czytana na głos nie może zawierać linku śledzonego ani linku rezygnacji.',
  foreign_price_missing: ({ index }) =>
    `Wysyłka na numer zagraniczny wymaga osobnej ceny, której konto nie ma${place(index)}.`,
  sender_not_number: ({ sender }) =>
    `Rozmowa może wychodzić tylko z numeru, a nadawca ${quoted(sender)} jest nazwą.`,
  calling_hours_missed:
    'W podanych godzinach i z tyloma próbami nie da się zadzwonić: połączenia są możliwe tylko w godzinach dzwonienia.',
  params_without_template: 'Pole „params” można podać tylko razem z „template_id”.',
  params_repeated: ({ key }) =>
    `Klucz ${quoted(key)} w polu „params” jest podany więcej niż raz (wielkość liter nie ma znaczenia).`,
  instant_malformed: ({ field }) =>
    `Pole ${quoted(field)} musi być datą i godziną ISO 8601 ze strefą, np. 2026-11-21T10:00:00Z.`,
  window_malformed: ({ field }) =>
    `Pole ${quoted(field)} musi mieć postać HH:MM-HH:MM i obejmować co najmniej 15 minut.`,
  send_at_too_far: ({ days }) => `Wysyłkę można zaplanować najwyżej ${days} dni naprzód.`,
  expires_at_out_of_range: 'Termin ważności musi przypadać od 15 minut do 72 godzin po czasie wysyłki.',
  settings_empty: 'Podaj co najmniej jedno ustawienie do zmiany.',
  prefix_malformed: 'Słowo kluczowe musi mieć od 2 do 10 liter (bez polskich znaków) lub cyfr.',
  prefix_reserved:
    'Słowa STOP, WYPISZ i NIE służą do rezygnacji z wiadomości i nie mogą być słowem kluczowym.',
  prefix_everyday:
    'Od tego słowa lub liczby zaczynają się zwykłe odpowiedzi do różnych nadawców. ' +
    'Może być słowem kluczowym tylko za zgodą operatora serwisu.',
  prefix_resting:
    'Z tego słowa kluczowego niedawno zrezygnowało inne konto. Będzie wolne po 30 dniach od rezygnacji.',
  prefix_changes:
    'Słowo kluczowe zmieniano zbyt często. Kolejne można wybrać po 30 dniach od jednej z ostatnich zmian.',
  prefix_taken: 'To słowo kluczowe jest już zajęte.',
  changes_too_many: ({ limit }) =>
    `W ciągu 24 godzin ustawienia i webhook konta można zmienić łącznie najwyżej tyle razy: ${limit}. ` +
    'Nic nie zostało zmienione, spróbuj później.',
  insufficient_funds: 'Za mało środków na koncie. Nic nie zostało wysłane.',
  tool_budget_reached: ({ limitGrosze, costGrosze }) =>
    `Dzienny budżet klucza na wysyłki przez narzędzia (${pln(limitGrosze)} netto) nie wystarcza ` +
    `na koszt ${pln(costGrosze)} netto. Nic nie zostało wysłane ani pobrane.`,
  statement_overdue:
    'Rozliczenie miesięczne jest po terminie płatności. Wysyłki są wstrzymane do zaksięgowania wpłaty.',
  not_cancellable: 'Anulować można tylko zaplanowaną wiadomość, najpóźniej 30 sekund przed wysyłką.',
  recipient_not_mobile: 'Kod można wysłać tylko na polski numer komórkowy.',
  recipient_blacklisted: 'Ten numer jest na czarnej liście konta.',
  verification_unknown: 'Nie znaleziono weryfikacji o podanym identyfikatorze.',
  verification_over: 'Numer jest już zweryfikowany, a podany kod nie jest tym, który wysłano.',
  codes_too_many: ({ limit, windowSeconds, seconds }) =>
    `Na ten numer można wysłać bez potwierdzenia najwyżej tyle kodów w ciągu ${windowSeconds / 60} min: ${limit}. ` +
    `Spróbuj ponownie za ${seconds} s.`,
  inbound_unknown: 'Nie znaleziono odpowiedzi o podanym identyfikatorze.',
  event_unknown: 'Nie znaleziono zdarzenia o podanym identyfikatorze.',
  event_pending: 'To zdarzenie jest właśnie dostarczane.',
  webhook_missing: 'Konto nie ma ustawionego adresu webhooka.',
  resends_used_up: ({ limit }) => `To zdarzenie wysłano ponownie już tyle razy, ile można: ${limit}.`,
  resends_at_once: ({ limit }) =>
    `Za dużo zdarzeń jest właśnie wysyłanych ponownie (najwyżej ${limit}). Spróbuj za chwilę.`,
  link_unknown: 'Nie znaleziono linku o podanym tokenie.',
  field_exclusive: ({ other, field }) => `Podaj jedno z pól „${other}” i ${quoted(field)}, nie oba.`,
  instant_past: ({ field }) => `Pole ${quoted(field)} musi być chwilą w przyszłości.`,
  number_not_listed: 'Tego numeru nie ma na czarnej liście.',
  day_malformed: ({ field }) => `Pole ${quoted(field)} musi być dniem w postaci RRRR-MM-DD, np. 2026-11-21.`,
  period_reversed: 'Pierwszy dzień nie może być późniejszy niż ostatni.',
  period_too_long: ({ limit }) => `Okres może mieć najwyżej tyle dni: ${limit}.`,
  alert_addresses_too_many: ({ limit }) => `Powiadomienia mogą iść na najwyżej tyle adresów: ${limit}.`,
  contact_unknown: 'Nie znaleziono kontaktu o podanym identyfikatorze.',
  contact_not_in_group: 'Tego kontaktu nie ma w tej grupie.',
  contact_number_taken: 'Ten numer należy do innego kontaktu.',
  contact_not_object: 'Kontakt musi być obiektem.',
  contacts_too_many: ({ limit }) => `Za dużo kontaktów w jednym żądaniu (najwyżej ${limit}).`,
  members_too_many: ({ limit }) => `Do grupy można dodać w jednym żądaniu najwyżej tyle kontaktów: ${limit}.`,
  contact_groups_too_many: ({ limit, contacts, first }) =>
    `Kontakt może być najwyżej w tylu grupach: ${limit}. Podanych kontaktów, które są już w tylu: ${contacts}, ` +
    `pierwszy to ${quoted(first)}. Nikogo nie dodano: pomiń je albo usuń z innych grup.`,
  members_missing: 'Podaj kontakty w polu „contact_ids” albo „msisdns”.',
  fields_too_many: ({ limit }) => `Kontakt może mieć najwyżej tyle pól własnych: ${limit}.`,
  quota_reached: ({ quota, limit }) => `${QUOTA_TEXTS[quota](limit)} albo poproś o wyższy limit.`,
  field_key_malformed: ({ key }) =>
    `Nazwa pola własnego ${quoted(key)} jest nieprawidłowa: najpierw litera albo podkreślenie, ` +
    'potem najwyżej 30 liter, cyfr lub podkreśleń.',
  field_key_reserved: ({ key }) =>
    `Nazwa ${quoted(key)} jest zastrzeżona i nie może być nazwą pola własnego.`,
  field_key_repeated: ({ key }) =>
    `Pole własne ${quoted(key)} podano więcej niż raz (wielkość liter nie ma znaczenia).`,
  field_value_malformed: ({ key, limit }) =>
    `Wartość pola własnego ${quoted(key)} musi być tekstem (najwyżej ${limit} znaków) albo liczbą.`,
  domain_malformed:
    'To nie jest nazwa domeny. Podaj samą nazwę, bez „https://” i kropki na końcu, na przykład sklep.example.',
  domain_exists: 'Ta domena jest już dodana do konta.',
  domain_taken: 'Tej domeny używa już inne konto.',
  domain_unknown: 'Na koncie nie ma takiej domeny.',
  domain_not_verified: 'Ta domena nie jest zweryfikowana. Ustaw jej rekordy DNS i sprawdź ją ponownie.',
  domains_too_many: ({ limit }) =>
    `Konto może mieć najwyżej tyle domen nadawcy: ${limit}. Usuń którąś z nich.`,
  sender_requests_too_many: ({ limit }) =>
    `Na decyzję czeka już tyle próśb o nadawcę, ile może: ${limit}. Poczekaj na odpowiedź.`,
  nip_malformed: 'To nie jest NIP. Ma on dziesięć cyfr; sprawdź, czy nie ma w nich pomyłki.',
  postal_code_malformed: 'Kod pocztowy ma postać 00-000.',
  sender_known: 'Ten nadawca jest już aktywny albo czeka na decyzję.',
  group_exists: ({ group }) => `Grupa o nazwie ${quoted(group)} już istnieje.`,
  group_name_like_id: 'Nazwa grupy nie może zaczynać się jak identyfikator („gr_”).',
  csv_malformed: ({ line }) =>
    `Treść żądania nie jest poprawnym plikiem CSV${line === null ? '' : ` (wiersz ${line})`}: cudzysłów, który otwiera komórkę, ` +
    `musi ją też zamykać. ${CSV_SAVED}`,
  csv_not_utf8: `Plik CSV nie jest zapisany w UTF-8. ${CSV_SAVED}`,
  csv_column_repeated: ({ column }) => `Kolumna ${quoted(column)} występuje w pliku CSV więcej niż raz.`,
  csv_columns_too_many: ({ limit }) =>
    `Kontakty mają razem za dużo różnych pól własnych na jeden plik CSV (najwyżej ${limit}). Zawęź listę.`,
  csv_header_too_wide: ({ limit }) => `Plik CSV ma za dużo kolumn (najwyżej ${limit}).`,
  cursor_malformed: 'Nieprawidłowy kursor. Podaj wartość next_cursor z poprzedniej strony.',
  search_too_long: ({ limit }) => `Szukać można najwyżej tylu słów naraz: ${limit}.`,
  lookup_unverified: 'Konto testowe sprawdza tylko zweryfikowane numery; ten numer nie jest zweryfikowany.',
  lookup_unpaid: 'Za mało środków na koncie. Numer nie został sprawdzony.',
  email_unknown: 'Nie znaleziono e-maila o podanym identyfikatorze.',
  email_no_route: 'Wysyłka e-maili jest chwilowo niedostępna. Nic nie pobrano; spróbuj ponownie za chwilę.',
  email_content_missing: 'Podaj treść e-maila: „html”, „text” albo obie.',
  address_malformed: ({ field }) =>
    `Pole ${quoted(field)} musi być adresem e-mail: sam adres, bez nazwy i nawiasów.`,
  address_repeated: ({ field }) =>
    `Adres w polu ${quoted(field)} powtarza się. Każdy adres może wystąpić tylko raz.`,
  display_name_malformed: ({ field }) =>
    `Pole ${quoted(field)} nie może wyglądać jak adres ani zawierać znaków niewidocznych.`,
  address_not_own: 'Konto testowe może wysyłać e-maile tylko na adresy we własnych domenach.',
  address_not_listed: 'Tego adresu nie ma na liście wykluczeń.',
  sender_domain_missing:
    'Konto nie ma domyślnej domeny nadawcy. Podaj „from” z adresem w zweryfikowanej domenie.',
  sender_domain_unverified: ({ domain }) =>
    `Domena nadawcy ${quoted(domain)} nie jest zweryfikowana na tym koncie.`,
  unsubscribe_needs_one: 'Link rezygnacji jednym kliknięciem może mieć tylko e-mail do jednego adresu.',
  header_not_allowed: ({ header }) => `Nagłówek ${quoted(header)} nie jest dozwolony.`,
  header_malformed: ({ header }) =>
    `Nagłówek ${quoted(header)} musi mieć jedną linię znaków ASCII, najwyżej ${HEADER_VALUE_MAX}.`,
  header_repeated: ({ header }) => `Nagłówek ${quoted(header)} podano więcej niż raz.`,
  attachment_type: ({ index }) => `Załącznik${place(index)} ma niedozwoloną nazwę lub typ.`,
  attachment_not_base64: ({ index }) => `Treść załącznika${place(index)} nie jest poprawnym base64.`,
  attachments_too_large: ({ limitBytes }) =>
    `Załączniki mogą mieć łącznie najwyżej ${megabytes(limitBytes)} MB.`,
  lookup_failed: 'Operator nie sprawdził numeru. Opłata nie została pobrana; spróbuj ponownie za chwilę.',
  lookup_no_route: 'Sprawdzanie tego numeru nie jest dostępne. Opłata nie została pobrana.',
  lookup_timed_out:
    'Operator nie odpowiedział na czas. Opłata nie została pobrana; spróbuj ponownie za chwilę.',
  lookup_abandoned: 'Nie udało się sprawdzić numeru. Opłata nie została pobrana; spróbuj ponownie.',
  lookup_unresolved:
    'Wynik nie nadszedł na czas. Ponów zapytanie: jeśli wynik już jest, nie zostanie naliczony drugi raz.',
  template_subject: 'Temat może mieć tylko szablon typu mms. Temat, który szablon ma, usuwa wartość null.',
  template_empty: 'Podaj co najmniej jedno pole szablonu do zmiany.',
  url_malformed: 'Pole „url” nie jest poprawnym adresem.',
  url_scheme: 'Adres webhooka musi zaczynać się od https://.',
  url_credentials: 'Adres webhooka nie może zawierać nazwy użytkownika ani hasła.',
  url_fragment: 'Adres webhooka nie może zawierać części po znaku „#”.',
  url_port:
    'Adres webhooka musi mieć port 443 albo port od 1024 wzwyż, na którym zwykle nie działa inna usługa niż serwer WWW.',
  url_private: 'Adres webhooka musi być dostępny publicznie.',
  unavailable: 'Usługa jest chwilowo niedostępna. Spróbuj ponownie za chwilę.',
  timed_out: 'Usługa nie odpowiedziała na czas. Spróbuj ponownie za chwilę.',
  send_abandoned:
    'Nie udało się przyjąć wiadomości. Nic nie zostało wysłane ani naliczone; spróbuj ponownie.',
  send_unresolved:
    'Nie wiadomo, czy wiadomość została przyjęta. Sprawdź historię albo ponów żądanie ' +
    'z tym samym Idempotency-Key.',
  backlog_full:
    'Zbyt wiele przyjętych wiadomości czeka na wysłanie. Nic nie zostało wysłane ani naliczone; spróbuj ponownie później.',
  internal: 'Wystąpił błąd po naszej stronie. Podaj identyfikator żądania w zgłoszeniu do pomocy.',
};

/** The Polish `message` of the error envelope (v2.3.0, Errors). */
export function problemText(problem: Problem): string {
  const sentence = SENTENCES[problem.reason];
  // Each function takes the problem of its own reason, which TypeScript cannot infer through the index.
  const text = typeof sentence === 'string' ? sentence : (sentence as (problem: Problem) => string)(problem);
  const unseen = 'given' in problem && problem.given !== undefined ? firstUnseen(problem.given) : null;
  return unseen === null ? text : `${text} Podana wartość zawiera niewidoczny znak ${unseen}.`;
}

function place(index: number | null): string {
  return index === null ? '' : ` (pozycja ${index + 1} na liście)`;
}

/** The placeholder up to its closing braces. */
function braced(source: string): string {
  const end = source.indexOf('}}');
  return quoted(end < 0 ? source : source.slice(0, end + 2));
}

// One more than is shown, to know whether to append an ellipsis; bounds the work on long input.
const QUOTED_READ = 41;

// Caller's input in a message: shortened, what cannot be seen spelt out.
function quoted(input: string): string {
  const read = input.slice(0, QUOTED_READ);
  const shown = read.length > 40 ? `${read.slice(0, 40).replace(/[\uD800-\uDBFF]$/u, '')}…` : read;
  return `„${withUnseen(shown)}”`;
}
