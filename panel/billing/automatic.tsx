import { type AutomaticTopUp, readAutomaticTopUp } from '../../db/money/automaticTopUps.ts';
import { MAX_GROSZE, MAX_TOP_UP_GROSZE, MIN_TOP_UP_GROSZE, parsePln } from '../../domain/money.ts';
import { changeAutomaticTopUp, forgetCard } from '../../operations/money/automaticTopUps.ts';
import { asking, type Fault, requireActive } from '../ask.ts';
import { type Language, moment, pln } from '../language.ts';
import { Choice, Field, Summary } from '../parts.tsx';
import type { Answer, MemberVisit } from '../route.ts';
import { words } from './words.ts';

// Fields, and the bounds of their amounts.
const AMOUNTS = {
  threshold: [1_00, MAX_GROSZE],
  net: [MIN_TOP_UP_GROSZE, MAX_TOP_UP_GROSZE],
  cap: [MIN_TOP_UP_GROSZE, MAX_GROSZE],
} as const;
type Name = keyof typeof AMOUNTS;
const NAMES = Object.keys(AMOUNTS) as Name[];
type Typed = Readonly<Record<Name, string>> & { enabled: boolean };

export async function automaticPage(
  visit: MemberVisit,
  fault: Fault | null = null,
  sent: Typed | null = null,
): Promise<Answer> {
  const { services, account, language } = visit;
  const current = await readAutomaticTopUp(services.sql, account.id);
  const typed = sent ?? typedOf(current);
  const view = <Automatic {...{ language, current, typed, fault }} />;
  return { status: fault === null ? 200 : 422, title: words[language].automaticHeading, view };
}

export async function changeAutomatic(visit: MemberVisit): Promise<Answer> {
  const { form, language } = visit;
  const { faults } = words[language];
  requireActive(visit);
  const text = (name: Name): string => (form.get(name) ?? '').slice(0, 100);
  const typed: Typed = {
    ...{ threshold: text('threshold'), net: text('net'), cap: text('cap') },
    enabled: form.has('enabled'),
  };
  const grosze = (name: Name): number => parsePln(typed[name]) ?? NaN;
  for (const name of NAMES) {
    const [min, max] = AMOUNTS[name];
    if (!(grosze(name) >= min && grosze(name) <= max)) {
      const about = faults.between(pln(language, min), pln(language, max));
      return automaticPage(visit, { field: name, text: about }, typed);
    }
  }
  const settings = {
    enabled: typed.enabled,
    thresholdGrosze: grosze('threshold'),
    netGrosze: grosze('net'),
    monthlyCapGrosze: grosze('cap'),
  };
  if (settings.monthlyCapGrosze < settings.netGrosze)
    return automaticPage(visit, { field: 'cap', text: faults.cap }, typed);
  await changeAutomaticTopUp(asking(visit, settings));
  return { to: '/panel/billing/automatic' };
}

export async function removeKeptCard(visit: MemberVisit): Promise<Answer> {
  await forgetCard(asking(visit, null));
  return { to: '/panel/billing/automatic' };
}

function typedOf(current: AutomaticTopUp | null): Typed {
  const inPln = (grosze: number): string => String(grosze / 100).replace('.', ',');
  if (current === null) return { threshold: '20', net: '100', cap: '300', enabled: false };
  const { enabled, thresholdGrosze, netGrosze, monthlyCapGrosze } = current;
  return { threshold: inPln(thresholdGrosze), net: inPln(netGrosze), cap: inPln(monthlyCapGrosze), enabled };
}

interface Props {
  language: Language;
  current: AutomaticTopUp | null;
  typed: Typed;
  fault: Fault | null;
}

function Automatic({ language, current, typed, fault }: Props) {
  const say = words[language];
  const { card = null, lastRefusedAt = null, enabled = false } = current ?? {};
  return (
    <>
      <Summary language={language} fault={fault} />
      <p>{say.automaticLead}</p>
      {lastRefusedAt === null ? null : <p class="notice">{say.refusedAt(moment(language, lastRefusedAt))}</p>}
      {card === null ? (
        <p>{enabled ? say.cardWanted : say.noCard}</p>
      ) : (
        <form method="post" action="/panel/billing/automatic/card">
          <p>{say.card(card.brand, card.last4)}</p>
          <button class="second">{say.removeCard}</button>
        </form>
      )}
      <form method="post" action="/panel/billing/automatic" class="stack" noValidate>
        <Choice name="enabled" label={say.enabled} checked={typed.enabled} />
        {NAMES.map((name) => (
          <Field
            {...{ name, label: say.automaticFields[name], fault }}
            inputMode="decimal"
            required
            maxLength={20}
            autoComplete="off"
            value={typed[name]}
          />
        ))}
        <button>{say.save}</button>
      </form>
      <p>
        <a href="/panel/billing">{say.again}</a>
      </p>
    </>
  );
}
