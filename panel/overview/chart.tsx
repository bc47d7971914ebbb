import type { DailySums } from '../../db/reports/daily.ts';
import { Bars } from '../chart.tsx';
import { count, day, type Language, pln } from '../language.ts';
import { Table } from '../parts.tsx';
import { words } from './words.ts';

/** What left on each day, of it what failed, and the same as a table. */
export function Chart({ language, days }: { language: Language; days: readonly DailySums[] }) {
  const say = words[language];
  const [first, last] = [days[0]!, days.at(-1)!].map((one) => day(language, one.day)) as [string, string];
  const most = Math.max(...days.map(({ sent }) => sent));
  const bars = days.map(({ day: of, sent, failed }) => ({
    name: day(language, of),
    value: sent,
    failed,
    text: say.bar(count(language, sent), count(language, failed)),
  }));
  return (
    <>
      <figure class="chart">
        <Bars label={say.chart} bars={bars} />
        <figcaption>{say.caption(first, last, count(language, most))}</figcaption>
      </figure>
      <details>
        <summary>{say.table}</summary>
        <Table label={say.chart} columns={{ day: say.day, ...say.figures }}>
          {days.toReversed().map((one) => (
            <tr>
              <th scope="row">{day(language, one.day)}</th>
              <td>{count(language, one.sent)}</td>
              <td>{count(language, one.delivered)}</td>
              <td>{count(language, one.failed)}</td>
              <td>{pln(language, one.costGrosze)}</td>
            </tr>
          ))}
        </Table>
      </details>
    </>
  );
}
