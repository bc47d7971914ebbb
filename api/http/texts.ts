import { HEADER_VALUE_MAX } from '../../domain/email/content.ts';
import type { QuotaName } from '../../domain/money.ts';
import type { SmilFault } from '../../domain/refusals.ts';
import type { Problem } from './refusals.ts';

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

const TOO_LONG_FOR_POLAND =
  'wygląda na polski z jedną cyfrą za dużo. Jeśli jest zagraniczny, zapisz go ze znakiem plus.';
const pln = (grosze: number): string => `${(grosze / 100).toFixed(2).replace('.', ',')} zł`;
const megabytes = (octets: number): string => String(octets / 1_000_000).replace('.', ',');

// What may be had, and what to do about it.
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

// By what is wrong; of an element or attribute with its name.
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

/** The Polish sentence of the error envelope's `message` (v2.3.0, Errors). */
export function problemText(problem: Problem): string {
  switch (problem.reason) {
    case 'key_missing':
      return 'Brak klucza API. Podaj go w nagłówku „Authorization: Bearer <klucz>”.';
    case 'key_invalid':
      return 'Klucz API jest nieprawidłowy albo został unieważniony.';
    case 'account_suspended':
      return 'Konto jest zawieszone.';
    case 'account_closed':
      return 'Konto jest zamknięte.';
    case 'account_not_migrated':
      return 'Konto nie zostało jeszcze przeniesione do panelu.';
    case 'test_key_on_live_account':
      return 'Klucz testowy na aktywnym koncie może tylko odczytywać dane. Użyj klucza produkcyjnego.';
    case 'scope_missing':
      return `Klucz API nie ma wymaganego uprawnienia „${problem.scope}”.`;
    case 'rate_limited':
      return `Przekroczono limit żądań na minutę. Spróbuj ponownie za ${problem.seconds} s.`;
    case 'too_many_at_once':
      return `Konto ma już tyle żądań w toku, ile może mieć jednocześnie: ${problem.limit}. Spróbuj ponownie za chwilę.`;
    case 'too_many_heavy_at_once':
      return (
        `Konto ma już w toku tyle dużych żądań (duże treści, raporty, eksporty), ile może mieć jednocześnie: ${problem.limit}. ` +
        'Spróbuj ponownie za chwilę.'
      );
    case 'route_unknown':
      return 'Nie ma takiego adresu.';
    case 'resource_unknown':
      return 'Nie znaleziono zasobu.';
    case 'message_unknown':
      return 'Nie znaleziono wiadomości o podanym identyfikatorze.';
    case 'group_unknown':
      return `Nie znaleziono grupy ${quoted(problem.group)}.`;
    case 'method_not_allowed':
      return `Metoda ${problem.method} nie jest tu obsługiwana. Dozwolone: ${problem.allowed.join(', ')}.`;
    case 'too_large':
      return `Treść żądania jest za duża (limit: ${Math.floor(problem.limitBytes / 1024)} kB).`;
    case 'content_type_unsupported':
      return 'Treść żądania musi mieć typ application/json.';
    case 'charset_unsupported':
      return 'Treść żądania musi być zapisana w kodowaniu UTF-8.';
    case 'content_encoding_unsupported':
      return 'Skompresowana treść żądania nie jest obsługiwana.';
    case 'request_malformed':
      return 'Żądanie nie jest poprawnym żądaniem HTTP.';
    case 'host_missing':
      return 'Brak nagłówka Host.';
    case 'expectation_unsupported':
      return 'Nagłówek Expect może mieć tylko wartość 100-continue.';
    case 'headers_too_large':
      return 'Nagłówki żądania są za duże.';
    case 'request_too_slow':
      return 'Żądanie nie dotarło w całości na czas.';
    case 'body_aborted':
      return 'Treść żądania nie dotarła w całości.';
    case 'body_missing':
      return 'Brak treści żądania.';
    case 'body_not_utf8':
      return 'Treść żądania nie jest poprawnym tekstem UTF-8.';
    case 'body_not_json':
      return 'Treść żądania nie jest poprawnym dokumentem JSON.';
    case 'body_too_deep':
      return `Treść żądania jest zagnieżdżona za głęboko (najwyżej poziomów: ${problem.limit}).`;
    case 'body_too_many_keys':
      return `Obiekt w treści żądania ma za dużo pól (najwyżej ${problem.limit}).`;
    case 'body_too_many_items':
      return `Tablica w treści żądania ma za dużo elementów (najwyżej ${problem.limit}).`;
    case 'body_too_many_values':
      return `Treść żądania ma za dużo wartości (najwyżej ${problem.limit}).`;
    case 'key_too_long':
      return `Nazwa pola w treści żądania jest za długa (maksimum znaków: ${problem.limit}).`;
    case 'field_repeated':
      return `Pole ${quoted(problem.field)} podano więcej niż raz.`;
    case 'body_not_object':
      return 'Treść żądania musi być obiektem JSON.';
    case 'field_missing':
      return `Brak wymaganego pola ${quoted(problem.field)}.`;
    case 'field_unknown':
      return `Nieznane pole ${quoted(problem.field)}.`;
    case 'field_malformed':
      return `Pole ${quoted(problem.field)} ma nieprawidłową wartość.`;
    case 'parameter_unknown':
      return `Nieznany parametr ${quoted(problem.field)}.`;
    case 'plus_not_encoded':
      return `Parametr ${quoted(problem.field)} zaczyna się od spacji: znak plus zapisuje się w adresie jako %2B.`;
    case 'query_repeated':
      return `Parametr ${quoted(problem.field)} podano więcej niż raz.`;
    case 'field_type':
      return `Pole ${quoted(problem.field)} musi być ${TYPES[problem.expected] ?? 'innego typu'}.`;
    case 'field_too_short':
      return `Pole ${quoted(problem.field)} ${TOO_SHORT[problem.unit](problem.limit)}.`;
    case 'field_too_long':
      return `Pole ${quoted(problem.field)} ${TOO_LONG[problem.unit](problem.limit)}.`;
    case 'number_out_of_range':
      return `Pole ${quoted(problem.field)} musi być liczbą całkowitą od ${problem.min} do ${problem.max}.`;
    case 'one_of':
      return `Pole ${quoted(problem.field)} musi mieć jedną z wartości: ${problem.values.join(', ')}.`;
    case 'characters_forbidden':
      return `Pole ${quoted(problem.field)} zawiera niedozwolone znaki.`;
    case 'idempotency_key_length':
      return 'Nagłówek Idempotency-Key musi mieć od 1 do 128 znaków.';
    case 'idempotency_key_repeated':
      return 'Nagłówek Idempotency-Key podano więcej niż raz.';
    case 'idempotency_other_content':
      return 'Ten sam Idempotency-Key został już użyty z inną treścią żądania.';
    case 'idempotency_in_progress':
      return 'Żądanie z tym samym Idempotency-Key jest jeszcze w toku. Ponów je za chwilę.';
    case 'recipient_malformed':
      return `Nieprawidłowy numer odbiorcy${position(problem.index)}.`;
    case 'recipient_too_long':
      return `Numer odbiorcy${position(problem.index)} ${TOO_LONG_FOR_POLAND}`;
    case 'number_malformed':
      return `Pole „${problem.field}” musi być numerem telefonu: +48500100200, 48500100200 albo 500100200, bez spacji.`;
    case 'polish_number_too_long':
      return `Numer w polu „${problem.field}” ${TOO_LONG_FOR_POLAND}`;
    case 'recipients_empty':
      return 'Podaj co najmniej jednego odbiorcę.';
    case 'recipients_malformed':
      return `Nieprawidłowe numery odbiorców: ${problem.positions.length}. Pierwszy stoi na liście na pozycji ${problem.positions[0]}.`;
    case 'recipients_too_many':
      return `Za dużo odbiorców w jednym żądaniu (najwyżej ${problem.limit}).`;
    case 'recipient_unverified':
      return `Konto testowe wysyła tylko na zweryfikowane numery; ten numer nie jest zweryfikowany${position(problem.index)}.`;
    case 'no_route':
      return `Wysyłka na ten numer nie jest dostępna${position(problem.index)}.`;
    case 'sender_inactive':
      return `Nadawca ${quoted(problem.sender)} nie jest aktywny na liście nadawców konta.`;
    case 'sender_malformed':
      return (
        `Pole ${quoted(problem.field)} musi być nazwą nadawcy (od 1 do 11 znaków: litery bez polskich znaków, cyfry, ` +
        'spacja, kropka, &, _ lub -) albo numerem od 3 do 15 cyfr.'
      );
    case 'group_empty':
      return `Grupa ${quoted(problem.group)} jest pusta.`;
    case 'groups_too_many':
      return `Za dużo grup w jednym żądaniu (najwyżej ${problem.limit}).`;
    case 'text_too_long':
      return `Treść wiadomości jest za długa${position(problem.index)}: części ${problem.isMore === true ? 'co najmniej ' : ''}${problem.parts}, najwyżej ${problem.limit}.`;
    case 'text_not_gsm7':
      return `Treść zawiera znak spoza alfabetu GSM-7 (znak ${problem.position} treści)${position(problem.index)}.`;
    case 'text_blank':
      return 'Treść wiadomości nie może składać się z samych odstępów.';
    case 'text_empty':
      return `Treść wiadomości jest pusta po podstawieniu danych${position(problem.index)}.`;
    case 'link_malformed':
      return (
        `Nieprawidłowy link śledzony ${braced(problem.source)} (znak ${problem.position} treści): po „link:” podaj pełny ` +
        'adres http albo https, bez spacji i najwyżej 2000 bajtów, a po nim „}}”.'
      );
    case 'placeholder_malformed':
      return (
        `Nieprawidłowe pole ${braced(problem.source)} (znak ${problem.position} treści): między „{{” i „}}” może stać ` +
        'tylko nazwa z liter, cyfr i znaków podkreślenia albo „link:” z adresem.'
      );
    case 'links_too_many':
      return `Wiadomość może zawierać najwyżej ${problem.limit} różne adresy śledzone.`;
    case 'placeholders_too_many':
      return `Wiadomość może zawierać łącznie najwyżej ${problem.limit} pola z kontaktów, linki śledzone i link rezygnacji.`;
    case 'template_unknown':
      return 'Nie znaleziono szablonu o podanym identyfikatorze.';
    case 'template_type':
      return `Szablon nie jest typu „${problem.channel}”.`;
    case 'smil_malformed':
      return `Dokument SMIL jest nieprawidłowy (wiersz ${problem.line}): ${SMIL_TEXTS[problem.what](problem.name)}.`;
    case 'links_unheard':
      return 'Treść czytana na głos nie może zawierać linku śledzonego ani linku rezygnacji.';
    case 'foreign_price_missing':
      return `Wysyłka na numer zagraniczny wymaga osobnej ceny, której konto nie ma${position(problem.index)}.`;
    case 'sender_not_number':
      return `Rozmowa może wychodzić tylko z numeru, a nadawca ${quoted(problem.sender)} jest nazwą.`;
    case 'calling_hours_missed':
      return 'W podanych godzinach i z tyloma próbami nie da się zadzwonić: połączenia są możliwe tylko w godzinach dzwonienia.';
    case 'params_without_template':
      return 'Pole „params” można podać tylko razem z „template_id”.';
    case 'params_repeated':
      return `Klucz ${quoted(problem.key)} w polu „params” jest podany więcej niż raz (wielkość liter nie ma znaczenia).`;
    case 'instant_malformed':
      return `Pole ${quoted(problem.field)} musi być datą i godziną ISO 8601 ze strefą, np. 2026-11-21T10:00:00Z.`;
    case 'window_malformed':
      return `Pole ${quoted(problem.field)} musi mieć postać HH:MM-HH:MM i obejmować co najmniej 15 minut.`;
    case 'send_at_too_far':
      return `Wysyłkę można zaplanować najwyżej ${problem.days} dni naprzód.`;
    case 'expires_at_out_of_range':
      return 'Termin ważności musi przypadać od 15 minut do 72 godzin po czasie wysyłki.';
    case 'settings_empty':
      return 'Podaj co najmniej jedno ustawienie do zmiany.';
    case 'prefix_malformed':
      return 'Słowo kluczowe musi mieć od 2 do 10 liter (bez polskich znaków) lub cyfr.';
    case 'prefix_reserved':
      return 'Słowa STOP, WYPISZ i NIE służą do rezygnacji z wiadomości i nie mogą być słowem kluczowym.';
    case 'prefix_everyday':
      return (
        'Od tego słowa lub liczby zaczynają się zwykłe odpowiedzi do różnych nadawców. ' +
        'Może być słowem kluczowym tylko za zgodą operatora serwisu.'
      );
    case 'prefix_resting':
      return 'Z tego słowa kluczowego niedawno zrezygnowało inne konto. Będzie wolne po 30 dniach od rezygnacji.';
    case 'prefix_changes':
      return 'Słowo kluczowe zmieniano zbyt często. Kolejne można wybrać po 30 dniach od jednej z ostatnich zmian.';
    case 'prefix_taken':
      return 'To słowo kluczowe jest już zajęte.';
    case 'changes_too_many':
      return (
        `W ciągu 24 godzin ustawienia i webhook konta można zmienić łącznie najwyżej tyle razy: ${problem.limit}. ` +
        'Nic nie zostało zmienione, spróbuj później.'
      );
    case 'insufficient_funds':
      return 'Za mało środków na koncie. Nic nie zostało wysłane.';
    case 'tool_budget_reached':
      return (
        `Dzienny budżet klucza na wysyłki przez narzędzia (${pln(problem.limitGrosze)} netto) nie wystarcza ` +
        `na koszt ${pln(problem.costGrosze)} netto. Nic nie zostało wysłane ani pobrane.`
      );
    case 'statement_overdue':
      return 'Rozliczenie miesięczne jest po terminie płatności. Wysyłki są wstrzymane do zaksięgowania wpłaty.';
    case 'not_cancellable':
      return 'Anulować można tylko zaplanowaną wiadomość, najpóźniej 30 sekund przed wysyłką.';
    case 'inbound_unknown':
      return 'Nie znaleziono odpowiedzi o podanym identyfikatorze.';
    case 'event_unknown':
      return 'Nie znaleziono zdarzenia o podanym identyfikatorze.';
    case 'event_pending':
      return 'To zdarzenie jest właśnie dostarczane.';
    case 'webhook_missing':
      return 'Konto nie ma ustawionego adresu webhooka.';
    case 'resends_used_up':
      return `To zdarzenie wysłano ponownie już tyle razy, ile można: ${problem.limit}.`;
    case 'resends_at_once':
      return `Za dużo zdarzeń jest właśnie wysyłanych ponownie (najwyżej ${problem.limit}). Spróbuj za chwilę.`;
    case 'link_unknown':
      return 'Nie znaleziono linku o podanym tokenie.';
    case 'field_exclusive':
      return `Podaj jedno z pól „${problem.other}” i ${quoted(problem.field)}, nie oba.`;
    case 'instant_past':
      return `Pole ${quoted(problem.field)} musi być chwilą w przyszłości.`;
    case 'number_not_listed':
      return 'Tego numeru nie ma na czarnej liście.';
    case 'day_malformed':
      return `Pole ${quoted(problem.field)} musi być dniem w postaci RRRR-MM-DD, np. 2026-11-21.`;
    case 'period_reversed':
      return 'Pierwszy dzień raportu nie może być późniejszy niż ostatni.';
    case 'period_too_long':
      return `Raport może obejmować najwyżej tyle dni: ${problem.limit}.`;
    case 'contact_unknown':
      return 'Nie znaleziono kontaktu o podanym identyfikatorze.';
    case 'contact_not_in_group':
      return 'Tego kontaktu nie ma w tej grupie.';
    case 'contact_number_taken':
      return 'Ten numer należy do innego kontaktu.';
    case 'contact_not_object':
      return 'Kontakt musi być obiektem.';
    case 'contacts_too_many':
      return `Za dużo kontaktów w jednym żądaniu (najwyżej ${problem.limit}).`;
    case 'members_too_many':
      return `Do grupy można dodać w jednym żądaniu najwyżej tyle kontaktów: ${problem.limit}.`;
    case 'contact_groups_too_many':
      return (
        `Kontakt może być najwyżej w tylu grupach: ${problem.limit}. Podanych kontaktów, które są już w tylu: ${problem.contacts}, ` +
        `pierwszy to ${quoted(problem.first)}. Nikogo nie dodano: pomiń je albo usuń z innych grup.`
      );
    case 'members_missing':
      return 'Podaj kontakty w polu „contact_ids” albo „msisdns”.';
    case 'fields_too_many':
      return `Kontakt może mieć najwyżej tyle pól własnych: ${problem.limit}.`;
    case 'quota_reached':
      return `${QUOTA_TEXTS[problem.quota](problem.limit)} albo poproś o wyższy limit.`;
    case 'field_key_malformed':
      return (
        `Nazwa pola własnego ${quoted(problem.key)} jest nieprawidłowa: najpierw litera albo podkreślenie, ` +
        'potem najwyżej 30 liter, cyfr lub podkreśleń.'
      );
    case 'field_key_reserved':
      return `Nazwa ${quoted(problem.key)} jest zastrzeżona i nie może być nazwą pola własnego.`;
    case 'field_key_repeated':
      return `Pole własne ${quoted(problem.key)} podano więcej niż raz (wielkość liter nie ma znaczenia).`;
    case 'field_value_malformed':
      return `Wartość pola własnego ${quoted(problem.key)} musi być tekstem (najwyżej ${problem.limit} znaków) albo liczbą.`;
    case 'domain_malformed':
      return 'To nie jest nazwa domeny. Podaj samą nazwę, bez „https://” i kropki na końcu, na przykład sklep.example.';
    case 'domain_exists':
      return 'Ta domena jest już dodana do konta.';
    case 'domain_taken':
      return 'Tej domeny używa już inne konto.';
    case 'domain_unknown':
      return 'Na koncie nie ma takiej domeny.';
    case 'domain_not_verified':
      return 'Ta domena nie jest zweryfikowana. Ustaw jej rekordy DNS i sprawdź ją ponownie.';
    case 'domains_too_many':
      return `Konto może mieć najwyżej tyle domen nadawcy: ${problem.limit}. Usuń którąś z nich.`;
    case 'group_exists':
      return `Grupa o nazwie ${quoted(problem.group)} już istnieje.`;
    case 'group_name_like_id':
      return 'Nazwa grupy nie może zaczynać się jak identyfikator („gr_”).';
    case 'csv_malformed':
      return `Treść żądania nie jest poprawnym plikiem CSV${problem.line === null ? '' : ` (wiersz ${problem.line})`}.`;
    case 'csv_column_repeated':
      return `Kolumna ${quoted(problem.column)} występuje w pliku CSV więcej niż raz.`;
    case 'csv_columns_too_many':
      return `Kontakty mają razem za dużo różnych pól własnych na jeden plik CSV (najwyżej ${problem.limit}). Zawęź listę.`;
    case 'csv_header_too_wide':
      return `Plik CSV ma za dużo kolumn (najwyżej ${problem.limit}).`;
    case 'cursor_malformed':
      return 'Nieprawidłowy kursor. Podaj wartość next_cursor z poprzedniej strony.';
    case 'search_too_long':
      return `Szukać można najwyżej tylu słów naraz: ${problem.limit}.`;
    case 'lookup_unverified':
      return 'Konto testowe sprawdza tylko zweryfikowane numery; ten numer nie jest zweryfikowany.';
    case 'lookup_unpaid':
      return 'Za mało środków na koncie. Numer nie został sprawdzony.';
    case 'email_unknown':
      return 'Nie znaleziono e-maila o podanym identyfikatorze.';
    case 'email_no_route':
      return 'Wysyłka e-maili jest chwilowo niedostępna. Nic nie pobrano; spróbuj ponownie za chwilę.';
    case 'email_content_missing':
      return 'Podaj treść e-maila: „html”, „text” albo obie.';
    case 'address_malformed':
      return `Pole ${quoted(problem.field)} musi być adresem e-mail: sam adres, bez nazwy i nawiasów.`;
    case 'address_repeated':
      return `Adres w polu ${quoted(problem.field)} powtarza się. Każdy adres może wystąpić tylko raz.`;
    case 'display_name_malformed':
      return `Pole ${quoted(problem.field)} nie może wyglądać jak adres ani zawierać znaków niewidocznych.`;
    case 'address_not_own':
      return 'Konto testowe może wysyłać e-maile tylko na adresy we własnych domenach.';
    case 'address_not_listed':
      return 'Tego adresu nie ma na liście wykluczeń.';
    case 'sender_domain_missing':
      return 'Konto nie ma domyślnej domeny nadawcy. Podaj „from” z adresem w zweryfikowanej domenie.';
    case 'sender_domain_unverified':
      return `Domena nadawcy ${quoted(problem.domain)} nie jest zweryfikowana na tym koncie.`;
    case 'unsubscribe_needs_one':
      return 'Link rezygnacji jednym kliknięciem może mieć tylko e-mail do jednego adresu.';
    case 'header_not_allowed':
      return `Nagłówek ${quoted(problem.header)} nie jest dozwolony.`;
    case 'header_malformed':
      return `Nagłówek ${quoted(problem.header)} musi mieć jedną linię znaków ASCII, najwyżej ${HEADER_VALUE_MAX}.`;
    case 'header_repeated':
      return `Nagłówek ${quoted(problem.header)} podano więcej niż raz.`;
    case 'attachment_type':
      return `Załącznik${position(problem.index)} ma niedozwoloną nazwę lub typ.`;
    case 'attachment_not_base64':
      return `Treść załącznika${position(problem.index)} nie jest poprawnym base64.`;
    case 'attachments_too_large':
      return `Załączniki mogą mieć łącznie najwyżej ${megabytes(problem.limitBytes)} MB.`;
    case 'lookup_failed':
      return 'Operator nie sprawdził numeru. Opłata nie została pobrana; spróbuj ponownie za chwilę.';
    case 'lookup_no_route':
      return 'Sprawdzanie tego numeru nie jest dostępne. Opłata nie została pobrana.';
    case 'lookup_timed_out':
      return 'Operator nie odpowiedział na czas. Opłata nie została pobrana; spróbuj ponownie za chwilę.';
    case 'lookup_abandoned':
      return 'Nie udało się sprawdzić numeru. Opłata nie została pobrana; spróbuj ponownie.';
    case 'lookup_unresolved':
      return 'Wynik nie nadszedł na czas. Ponów zapytanie: jeśli wynik już jest, nie zostanie naliczony drugi raz.';
    case 'template_subject':
      return 'Temat może mieć tylko szablon typu mms. Temat, który szablon ma, usuwa wartość null.';
    case 'template_empty':
      return 'Podaj co najmniej jedno pole szablonu do zmiany.';
    case 'url_malformed':
      return 'Pole „url” nie jest poprawnym adresem.';
    case 'url_scheme':
      return 'Adres webhooka musi zaczynać się od https://.';
    case 'url_credentials':
      return 'Adres webhooka nie może zawierać nazwy użytkownika ani hasła.';
    case 'url_fragment':
      return 'Adres webhooka nie może zawierać części po znaku „#”.';
    case 'url_port':
      return 'Adres webhooka musi mieć port 443 albo port od 1024 wzwyż, na którym zwykle nie działa inna usługa niż serwer WWW.';
    case 'url_private':
      return 'Adres webhooka musi być dostępny publicznie.';
    case 'unavailable':
      return 'Usługa jest chwilowo niedostępna. Spróbuj ponownie za chwilę.';
    case 'timed_out':
      return 'Usługa nie odpowiedziała na czas. Spróbuj ponownie za chwilę.';
    case 'send_abandoned':
      return 'Nie udało się przyjąć wiadomości. Nic nie zostało wysłane ani naliczone; spróbuj ponownie.';
    case 'send_unresolved':
      return (
        'Nie wiadomo, czy wiadomość została przyjęta. Sprawdź historię albo ponów żądanie ' +
        'z tym samym Idempotency-Key.'
      );
    case 'backlog_full':
      return 'Zbyt wiele przyjętych wiadomości czeka na wysłanie. Nic nie zostało wysłane ani naliczone; spróbuj ponownie później.';
    case 'internal':
      return 'Wystąpił błąd po naszej stronie. Podaj identyfikator żądania w zgłoszeniu do pomocy.';
  }
}

function position(index: number | null): string {
  return index === null ? '' : ` (pozycja ${index + 1} na liście)`;
}

/** A placeholder as it was written, up to the braces that end it. */
function braced(source: string): string {
  const end = source.indexOf('}}');
  return quoted(end < 0 ? source : source.slice(0, end + 2));
}

// One more than is shown, so that what is left out is seen; no more, however long it is.
const QUOTED_READ = 41;

// The caller's own words come back in the message: shortened, and without what could break a line.
function quoted(input: string): string {
  const plain = input.slice(0, QUOTED_READ).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, ' ');
  return `„${plain.length > 40 ? `${plain.slice(0, 40).replace(/[\uD800-\uDBFF]$/u, '')}…` : plain}”`;
}
