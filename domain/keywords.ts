// Words after STOP and WYPISZ that do not change the meaning of a reply: "Stop, proszę", "WYPISZ MNIE".
const COURTESIES = new Set(
  'MNIE SIE SMS PROSZE DZIEKUJE DZIEKI STOP WYPISZ PLEASE THANKS THANK YOU'.split(' '),
);

// No opt-out is longer, and normalising a long text can take seconds.
const LONGEST = 1_000;

/** Words that opt out (v2.3.0, Inbound replies). None can be a keyword: recipients could not opt out of its owner. */
export const OPT_OUT_WORDS = ['STOP', 'WYPISZ', 'NIE'] as const;

const QUOTED = /^\s*>/;
// Introduces quoted lines.
const ATTRIBUTION = /:\s*$/;
// Behind a reply: the delimiter of a signature (RFC 3676, 4.3) or of a quote, a greeting, what programs write there, the head of a quote.
const NOT_OWN =
  /^\s*(?:[-_*=]{2}|pozdr|wysłan[aeoy]\s|sent (?:from|via|with)\s|(?:od|from):|(?:w dniu|dnia|on)\s.*\s(?:napisał\S*|pisze|wrote):\s*$)/iu;
// In the line of the reply.
const SIGNATURE = /[\s.,!;](?:pozdr|wysłan[aeoy] ze?\s|sent from\s).*$/iu;

/**
 * Whether a reply opts its sender out (v2.3.0, Inbound replies: "a reply of STOP, WYPISZ or NIE"). Its first own line counts: no quoted
 * one, no signature. Case, diacritics, punctuation, emoji and spaces do not. NIE has to be the whole reply, as it is an ordinary answer as
 * well ("nie przyjdę"). STOP and WYPISZ may be followed by courtesies ("wypisz mnie", "STOP SMS") and by a name or number of whom it
 * answers ("STOP SKLEP"); any other word changes the meaning ("stop przy sklepie").
 * @param names of the account that the reply goes to: senders, keyword, numbers
 */
export function isOptOut(text: string, names: readonly string[] = []): boolean {
  const [line = '', ...others] = ownLines(text);
  if (line.length > LONGEST) return false;
  const [first, ...answer] = wordsOf(line);
  if (first === 'NIE') return answer.length === 0 && others.length === 0;
  if (first !== 'STOP' && first !== 'WYPISZ') return false;
  const [, ...rest] = wordsOf(line.replace(SIGNATURE, ''));
  const more = nationalNumber(rest.filter((word) => !COURTESIES.has(word)));
  return more === '' || names.some((name) => nationalNumber(wordsOf(name)) === more);
}

/** The lines with words that the sender wrote. */
function ownLines(text: string): string[] {
  const lines = text.split(/[\r\n\u2028\u2029]+/u);
  const own: string[] = [];
  for (const [index, line] of lines.entries()) {
    if (own.length > 0 && NOT_OWN.test(line)) break;
    const introduces = ATTRIBUTION.test(line) && QUOTED.test(lines[index + 1] ?? '');
    if (QUOTED.test(line) || introduces) continue;
    if (line.length > LONGEST || wordsOf(line).length > 0) own.push(line);
  }
  return own;
}

/** The words as one; of a Polish number without its country code. */
function nationalNumber(words: readonly string[]): string {
  return words.join('').replace(/^(?:00)?48(?=[0-9]{9}$)/, '');
}

// Upper case without diacritics; full-width and similar forms become plain.
function wordsOf(text: string): string[] {
  return text
    .normalize('NFKD')
    .replace(/[\p{Mark}\p{Default_Ignorable_Code_Point}]/gu, '')
    .toUpperCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
}

/** Format of a keyword, which is stored in upper case (v2.3.0, Inbound replies). */
export const KEYWORD = /^[A-Za-z0-9]{2,10}$/;

// The first run of letters and digits, after any other characters; what is never shown is no other word.
const FIRST_WORD = /^[^\p{L}\p{M}\p{N}]*([\p{L}\p{M}\p{N}\p{Default_Ignorable_Code_Point}]+)/u;
const IGNORABLE = /\p{Default_Ignorable_Code_Point}/gu;
// "SKLEP: tak", "SKLEP - tak", "SKLEP-tak"; a sign that belongs to the rest stays: "SKLEP -5".
const SEPARATORS = /^[:;,.!?/|)\]"'”’»–—-]*\s*(?:[:;,./|–—-]+\s+)*/u;
// In code units, of which a letter may have several: a longer word is no keyword in any spelling.
const LONGEST_WORD = 40;

/** Splits the first word off a reply, in upper case (v2.3.0, Inbound replies); null when it cannot be a keyword. */
export function splitKeyword(text: string): { keyword: string; rest: string } | null {
  const match = FIRST_WORD.exec(text);
  const written = match?.[1]?.replace(IGNORABLE, '');
  if (match === null || written === undefined || written.length > LONGEST_WORD) return null;
  const word = written.normalize('NFKC');
  if (!KEYWORD.test(word)) return null;
  const behind = text.slice(match[0].length);
  return { keyword: word.toUpperCase(), rest: behind.replace(SEPARATORS, '') };
}

// Words that commonly begin replies; compared without case and Polish letters. Longer ones cannot be keywords anyway.
const EVERYDAY = `
  tak no jasne pewnie oczywiście zgoda zgadzam okej okey okay ok oki dobra dobrze dobry spoko super
  świetnie fajnie git gitara rozumiem jasna potwierdz potwierdza będę przyjdę przyjadę jestem
  pasuje może można nein niestety nigdy odmawiam odwołuję odwołaj odwołać odwołany rezygnuję rezygnacja
  zrezygnuj anuluj anuluję anulować usuń wypisać wypisuję wypis stopsms koniec dość dosyć przestań
  start pomoc pomocy pomóż help info informacja informacje kontakt dziękuję dziękujemy dzięki dzięks dzięx
  dzienki thx thanks thank proszę poproszę prosimy sorry wybacz hej hejka cześć siema siemka elo witam witaj
  witajcie halo hello hi dzień pan pani państwo panie do widzenia pa papa nara pozdrawiam yes yep
  yeah nope sure please cancel end quit unsub arret optout opt out subscribe join accept agree decline
  reject si oui non da ja nee nah co czy kto kiedy gdzie jak jaki jaka jakie ile dlaczego czemu po kim skąd
  to ta ten te tu tam już jeszcze dziś dzisiaj jutro wczoraj rano wieczorem później teraz zaraz chwilę
  godzina godz minut minuta wtorek środa czwartek piątek sobota niedziela styczeń luty marzec
  kwiecień maj czerwiec lipiec sierpień wrzesień listopad grudzień chcę chciałbym chciałabym mogę możemy mam
  mamy nam mi mnie moja mój moje my wy on ona oni ty pana zadzwoń zadzwonię oddzwoń oddzwonię dzwonić
  dzwonię napisz nr numer tel telefon sms wiadomość odbiorę odbiór odebrane odebrałem odebrałam zapłacone
  zapłacę opłacone wysłane kod pin hasło login na ze za od dla bez przy przed ale lecz oraz lub albo bo więc
  się być był byla jest są będzie zero jeden jedna jedno dwa dwie trzy cztery pięć sześć siedem osiem
  dziewięć dziesięć pierwszy drugi trzeci one two przełóż przełożyć zmiana zmienić zmień inny termin wizyta
  wizytę spotkanie płatność faktura paczka paczkę zamawiam zamówienie biorę reklamacja ocena opinia bardzo
  dobre złe zły słabo kiepsko polecam akceptuję akceptuj odrzucam przyjmuję zatwierdź czekam jadę idę wracam
  raczej chyba gotowe gotowy gotowa aha mhm okk spox dobranoc good great fine maybe perfect perfekt wolę zajęte
  zajęty zajęta wolne dostałem dostałam zgadza odebrano odebrana zrobione załatwione nic żaden
  wszystko pilne błąd pomyłka proste właśnie
`;

// Numbers, times, amounts: "12", "500600700", "15min", "10zl", "2szt", "18ta".
const NUMBER = /^[0-9]+(?:H|G|GODZ|MIN|ZL|PLN|EUR|SZT|OS|X|TA|TEJ|EJ|GO|DNI|PM|AM)?$/;

const WORDS: ReadonlySet<string> = new Set(EVERYDAY.split(/\s+/).filter(Boolean).map(folded));
const UNSUBSCRIBING: readonly string[] = OPT_OUT_WORDS;

type Restriction = 'opt_out' | 'everyday' | null;

/** Everyday words would divert other accounts' replies: staff must consent. Opt-out words never: recipients could not leave their owner. */
export function restrictionOf(keyword: string): Restriction {
  const word = folded(keyword);
  if (UNSUBSCRIBING.includes(word)) return 'opt_out';
  return NUMBER.test(word) || WORDS.has(word) ? 'everyday' : null;
}

// `dziękuję` → `DZIEKUJE`, `ł` → `L`.
function folded(word: string): string {
  return word
    .normalize('NFKD')
    .replace(/\p{Mark}/gu, '')
    .toUpperCase()
    .replaceAll('Ł', 'L');
}
