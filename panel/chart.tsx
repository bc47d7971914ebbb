/** One bar of a chart. */
export interface Bar {
  name: string;
  value: number;
  /** The value in words. */
  text: string;
}

const [WIDTH, HEIGHT] = [10, 100];

/** Bars side by side, in order; the same figures are in a table beside it. */
export function Bars({ label, bars }: { label: string; bars: readonly Bar[] }) {
  const most = Math.max(1, ...bars.map(({ value }) => value));
  return (
    <svg
      class="bars"
      role="img"
      aria-label={label}
      viewBox={`0 0 ${bars.length * WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
    >
      {bars.map(({ name, value, text }, index) => {
        const height = (value / most) * HEIGHT;
        return (
          <rect x={index * WIDTH + 1} y={HEIGHT - height} width={WIDTH - 2} height={height}>
            <title>{`${name}: ${text}`}</title>
          </rect>
        );
      })}
    </svg>
  );
}
