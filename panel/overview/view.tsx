import type { AccountRow } from '../../db/accounts/accounts.ts';
import type { ReportFigures } from '../../domain/reports.ts';
import { count, type Language, pln } from '../language.ts';
import { Figure } from '../parts.tsx';
import { words } from './words.ts';

interface Props {
  language: Language;
  account: AccountRow;
  /** Null: not available now. */
  today: ReportFigures | null;
  /** Whether the person may create keys. */
  managesKeys: boolean;
}

export function Overview({ language, account, today, managesKeys }: Props) {
  const say = words[language];
  const { mode, status } = account;
  return (
    <>
      {status === 'active' ? null : <p class="notice">{say.states[status]}</p>}
      <section>
        <h2>
          {account.name} <span class="badge">{say.modes[mode]}</span>
        </h2>
        <dl class="figures">
          {mode === 'test' ? (
            <Figure name={say.free} value={count(language, account.testCredits)} />
          ) : (
            <Figure name={say.balance} value={pln(language, account.balanceGrosze)} />
          )}
        </dl>
        <p class="hint">{mode === 'test' ? say.freeHint : say.net}</p>
      </section>
      <section>
        <h2>{say.today}</h2>
        {today === null ? <p>{say.todayLater}</p> : <Today language={language} today={today} />}
      </section>
      {status === 'active' ? <Steps {...{ language, mode, managesKeys }} /> : null}
    </>
  );
}

function Today({ language, today }: { language: Language; today: ReportFigures }) {
  const { figures, todayHint } = words[language];
  return (
    <>
      <dl class="figures">
        <Figure name={figures.accepted} value={count(language, today.accepted)} />
        <Figure name={figures.delivered} value={count(language, today.delivered)} />
        <Figure
          name={figures.failed}
          value={count(language, today.undelivered + today.failed + today.expired)}
        />
        <Figure name={figures.cost} value={pln(language, today.net_grosze)} />
      </dl>
      <p class="hint">{todayHint}</p>
    </>
  );
}

function Steps({
  language,
  mode,
  managesKeys,
}: Pick<Props, 'language' | 'managesKeys'> & { mode: AccountRow['mode'] }) {
  const { next, steps } = words[language];
  return (
    <section>
      <h2>{next}</h2>
      <ul>
        {managesKeys ? (
          <li>
            <a href="/panel/keys">{steps.key[0]}</a>
            {steps.key[1]}
          </li>
        ) : null}
        <li>
          <a href="/docs">{steps.docs[0]}</a>
          {steps.docs[1]}
        </li>
        {mode === 'test' ? (
          <>
            <li>{steps.number}</li>
            <li>{steps.live}</li>
          </>
        ) : null}
      </ul>
    </section>
  );
}
