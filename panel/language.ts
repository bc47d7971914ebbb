import type { IncomingHttpHeaders } from 'node:http';
import { polishTime } from '../domain/calendar.ts';

export const LANGUAGES = ['pl', 'en'] as const;
export type Language = (typeof LANGUAGES)[number];

/** One sentence per language; English has to have every Polish one. */
export type Dictionary<Words> = Readonly<Record<Language, Words>>;

/** The first language of `Accept-Language` that we have, Polish without one. */
export function preferredLanguage({ 'accept-language': accepted = '' }: IncomingHttpHeaders): Language {
  const wished = accepted.slice(0, 200).toLowerCase().split(',');
  const known = wished.map((tag) => LANGUAGES.find((language) => tag.trim().startsWith(language)));
  return known.find((language) => language !== undefined) ?? 'pl';
}

const ZONE = 'Europe/Warsaw';
const formatsOf = (locale: string) => ({
  moment: new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short', timeZone: ZONE }),
  day: new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short', timeZone: 'UTC' }),
  month: new Intl.DateTimeFormat(locale, { month: 'long', year: 'numeric', timeZone: 'UTC' }),
  number: new Intl.NumberFormat(locale),
  pln: new Intl.NumberFormat(locale, { style: 'currency', currency: 'PLN' }),
  list: new Intl.ListFormat(locale, { type: 'conjunction' }),
});
const FORMATS = { pl: formatsOf('pl-PL'), en: formatsOf('en-GB') };

/** A time of the Polish clock. */
export function moment(language: Language, at: Date): string {
  return FORMATS[language].moment.format(at);
}

/** A calendar day, `YYYY-MM-DD`, without its year. */
export function day(language: Language, date: string): string {
  return FORMATS[language].day.format(new Date(date));
}

/** A calendar month, `YYYY-MM`, in words. */
export function month(language: Language, of: string): string {
  return FORMATS[language].month.format(new Date(of));
}

/** The Polish time in so many seconds, as `14:05`. */
export function timeIn(seconds: number): string {
  return polishTime(Date.now() + seconds * 1_000).time;
}

export function count(language: Language, number: number): string {
  return FORMATS[language].number.format(number);
}

export function pln(language: Language, grosze: number): string {
  return FORMATS[language].pln.format(grosze / 100);
}

export function list(language: Language, items: readonly string[]): string {
  return FORMATS[language].list.format(items);
}
