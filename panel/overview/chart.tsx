import { scaleBand, scaleLinear } from 'd3-scale';
import type { DailySums } from '../../db/reports/daily.ts';
import { count, day, type Language, pln } from '../language.ts';
import { Table } from '../parts.tsx';
import { words } from './words.ts';

const WIDTH = 600;
const HEIGHT = 160;

/** What left on each day, of it what failed, and the same as a table. */
export function Chart({ language, days }: { language: Language; days: readonly DailySums[] }) {
  const say = words[language];
  const [first, last] = [days[0]!, days.at(-1)!].map((one) => day(language, one.day)) as [string, string];
  const across = scaleBand(
    days.map((one) => one.day),
    [0, WIDTH],
  ).paddingInner(0.25);
  const most = Math.max(...days.map(({ sent }) => sent));
  const up = scaleLinear([0, most], [0, HEIGHT]);
  return (
    <figure class="chart">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={say.chart}>
        {days.map((one) => {
          const bar = { x: across(one.day)!, width: across.bandwidth() };
          const [sent, failed] = [up(one.sent), up(one.failed)];
          return (
            <g>
              <title>
                {say.bar(day(language, one.day), count(language, one.sent), count(language, one.failed))}
              </title>
              <rect {...bar} class="sent" y={HEIGHT - sent} height={sent} />
              <rect {...bar} class="failed" y={HEIGHT - failed} height={failed} />
            </g>
          );
        })}
      </svg>
      <figcaption>{say.caption(first, last, count(language, most))}</figcaption>
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
    </figure>
  );
}
