import type { ComponentChildren } from 'preact';
import type { AccountRow } from '../../db/accounts/accounts.ts';
import type { Standing } from '../../db/accounts/standing.ts';
import type { Role } from '../../domain/actor.ts';
import type { DailySums } from '../../db/reports/daily.ts';
import { count, type Language, list, pln } from '../language.ts';
import { mayOpen, type PlaceName, PLACES } from '../menu.ts';
import { Figure, Runway } from '../parts.tsx';
import { Chart } from './chart.tsx';
import { words } from './words.ts';

interface Props {
  language: Language;
  account: AccountRow;
  role: Role;
  standing: Standing;
  /** Null: not available now. */
  days: readonly DailySums[] | null;
  runway: number | null;
}

export function Overview(props: Props) {
  const { language, account, role, days, runway } = props;
  const say = words[language];
  const { mode, status } = account;
  const isTest = mode === 'test';
  return (
    <>
      <Needs {...props} />
      <section>
        <h2>
          {account.name} <span class="badge">{say.modes[mode]}</span>
        </h2>
        <dl class="figures">
          {isTest ? (
            <Figure name={say.free} value={count(language, account.testCredits)} />
          ) : (
            <Figure name={say.balance} value={pln(language, account.balanceGrosze)} />
          )}
          <Runway language={language} days={runway} />
        </dl>
        <p class="hint">{isTest ? say.freeHint : say.net}</p>
      </section>
      {isTest && status === 'active' && mayOpen(role, 'send') ? <FirstSteps {...props} /> : null}
      {days === null ? <p>{say.later}</p> : <Sent {...{ language, days, isTest }} />}
    </>
  );
}

/** What somebody should do; nothing where all is well. */
function Needs({ language, account, role, standing, days }: Props) {
  const say = words[language].needs;
  const { status, mode, balanceGrosze, creditLimitGrosze, pricePerPartGrosze, testCredits } = account;
  const ofLastWeek = totalOf(days?.slice(-7) ?? []).costGrosze;
  const available = balanceGrosze + creditLimitGrosze;
  const isLow = mode === 'live' && available < Math.max(ofLastWeek, pricePerPartGrosze);
  const { hasNumber, hasSent, hasTestKeyAlone, webhookFails, unusedKeys } = standing;
  const to = (place: PlaceName, text: string) =>
    mayOpen(role, place) ? <a href={PLACES[place].path}>{text}</a> : text;
  const needs: ComponentChildren[] = [
    ...(status === 'active' ? [] : [say[status]]),
    ...(isLow ? [to('billing', say.balance(pln(language, available), pln(language, ofLastWeek)))] : []),
    ...(mode === 'test' && testCredits === 0 ? [to('billing', say.credits)] : []),
    ...(mode === 'test' && hasSent && !hasNumber ? [to('numbers', say.number)] : []),
    ...(mode === 'live' && hasTestKeyAlone ? [to('keys', say.testKey)] : []),
    ...(webhookFails ? [to('webhooks', say.webhook)] : []),
    ...(unusedKeys.length > 0 ? [to('keys', say.keys(list(language, unusedKeys)))] : []),
  ];
  if (needs.length === 0) return null;
  return (
    <section class="notice">
      <h2>{say.heading}</h2>
      <ul>
        {needs.map((need) => (
          <li>{need}</li>
        ))}
      </ul>
    </section>
  );
}

/** The way of a test account; what is done shows in its data. */
function FirstSteps({ language, role, standing }: Props) {
  const say = words[language];
  const { hasNumber, hasSent, hasUsedKey, hasSender } = standing;
  const steps = [
    { place: 'numbers', isDone: hasNumber, words: say.steps.number },
    { place: 'send', isDone: hasSent, words: say.steps.send },
    { place: 'keys', isDone: hasUsedKey, words: say.steps.curl },
    { place: 'senders', isDone: hasSender, words: say.steps.sender },
    { place: 'billing', isDone: false, words: say.steps.live },
  ] as const;
  return (
    <section>
      <h2>{say.firstSteps}</h2>
      <ol>
        {steps.map(({ place, isDone, words: [name, about] }) => (
          <li>
            {mayOpen(role, place) ? <a href={PLACES[place].path}>{name}</a> : name}{' '}
            <span class={isDone ? 'badge' : 'hint'}>{isDone ? say.done : about}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}

interface SentProps {
  language: Language;
  days: readonly DailySums[];
  isTest: boolean;
}

function Sent({ language, days, isTest }: SentProps) {
  const say = words[language];
  const total = totalOf(days);
  return (
    <>
      <section>
        <h2>{say.today}</h2>
        <Figures language={language} sums={days.at(-1)!} />
        <p class="hint">{say.todayHint}</p>
      </section>
      <section>
        <h2>{say.lastDays}</h2>
        {total.sent === 0 ? (
          <p>{say.nothing}</p>
        ) : (
          <>
            <Figures language={language} sums={total} />
            {isTest ? <p class="hint">{say.testCost}</p> : null}
            <Chart language={language} days={days} />
          </>
        )}
      </section>
    </>
  );
}

type Sums = Omit<DailySums, 'day'>;

function totalOf(days: readonly DailySums[]): Sums {
  const sum = (of: (day: DailySums) => number) => days.reduce((all, day) => all + of(day), 0);
  return {
    sent: sum(({ sent }) => sent),
    delivered: sum(({ delivered }) => delivered),
    failed: sum(({ failed }) => failed),
    costGrosze: sum(({ costGrosze }) => costGrosze),
  };
}

function Figures({ language, sums }: { language: Language; sums: Sums }) {
  const say = words[language].figures;
  return (
    <dl class="figures">
      <Figure name={say.sent} value={count(language, sums.sent)} />
      <Figure name={say.delivered} value={count(language, sums.delivered)} />
      <Figure name={say.failed} value={count(language, sums.failed)} />
      <Figure name={say.cost} value={pln(language, sums.costGrosze)} />
    </dl>
  );
}
