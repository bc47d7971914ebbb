import { scaleBand, scaleLinear } from 'd3-scale';

/** One bar of a chart. */
export interface Bar {
  name: string;
  value: number;
  /** Of the value, what failed. */
  failed?: number;
  /** The value in words. */
  text: string;
}

const [WIDTH, HEIGHT] = [600, 160];

/** Bars side by side, in order; the same figures are in a table beside it. */
export function Bars({ label, bars }: { label: string; bars: readonly Bar[] }) {
  const across = scaleBand([...bars.keys()], [0, WIDTH]).paddingInner(0.25);
  const up = scaleLinear([0, Math.max(1, ...bars.map(({ value }) => value))], [0, HEIGHT]);
  const heightOf = (value: number) => ({ y: HEIGHT - up(value), height: up(value) });
  return (
    <svg
      class="bars"
      role="img"
      aria-label={label}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
    >
      {bars.map(({ name, value, failed = 0, text }, index) => {
        const place = { x: across(index)!, width: across.bandwidth() };
        return (
          <g>
            <title>{`${name}: ${text}`}</title>
            <rect {...place} {...heightOf(value)} />
            {failed === 0 ? null : <rect {...place} {...heightOf(failed)} class="failed" />}
          </g>
        );
      })}
    </svg>
  );
}
