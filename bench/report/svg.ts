/** Small charts in SVG, readable on light and on dark pages: each has a ground of its own that follows the reader's scheme. */

const WIDTH = 760;
const MARGIN = 16;
const COLOURS = ['#4477aa', '#ee6677', '#228833', '#ccbb44', '#66ccee', '#aa3377', '#999999'];
const STYLE = `
  .ground { fill: #ffffff; stroke: #d0d7de }
  text { font: 13px system-ui, sans-serif; fill: #1f2328 }
  .title { font-weight: 600; font-size: 15px }
  .small { font-size: 11px; fill: #59636e }
  .axis { stroke: #818b98; stroke-width: 1 }
  .grid { stroke: #818b98; stroke-opacity: 0.25; stroke-width: 1 }
  @media (prefers-color-scheme: dark) {
    .ground { fill: #151b23; stroke: #3d444d }
    text { fill: #f0f6fc }
    .small { fill: #9198a1 }
  }`;

/** A horizontal bar, of one or several stacked parts. */
export interface Bar {
  label: string;
  parts: { name: string; value: number }[];
}

/** A line through points, from left to right. */
export interface Line {
  name: string;
  points: { x: number; y: number }[];
}

/** Stacked horizontal bars with their sums; a legend where there is more than one kind of part. */
export function bars(title: string, rows: Bar[], format: (value: number) => string): string {
  const left = 230;
  const right = 90;
  const names = [...new Set(rows.flatMap(({ parts }) => parts.map(({ name }) => name)))];
  const legend = names.length > 1 ? 24 : 0;
  const top = 44 + legend;
  const height = top + rows.length * 32 + MARGIN;
  const total = ({ parts }: Bar): number => parts.reduce((sum, { value }) => sum + value, 0);
  const scale = (WIDTH - left - right) / Math.max(...rows.map(total), Number.MIN_VALUE);
  const drawn = rows.flatMap((row, index) => {
    const y = top + index * 32;
    let x = left;
    const rects = row.parts.map(({ name, value }) => {
      const width = value * scale;
      const rect = `<rect x="${round(x)}" y="${y}" width="${round(width)}" height="22" fill="${colour(names.indexOf(name))}"><title>${escape(`${row.label}, ${name}: ${format(value)}`)}</title></rect>`;
      x += width;
      return rect;
    });
    return [
      `<text x="${left - 10}" y="${y + 16}" text-anchor="end">${escape(row.label)}</text>`,
      ...rects,
      `<text x="${round(x) + 6}" y="${y + 16}">${escape(format(total(row)))}</text>`,
    ];
  });
  return document(height, title, [...(legend > 0 ? legendOf(names, 52) : []), ...drawn]);
}

/** Lines over a common axis; both axes begin at 0 unless `steps` spaces the points evenly. */
export function lines(
  title: string,
  series: Line[],
  axes: { x: string; y: string; steps?: boolean; format: (value: number) => string },
): string {
  const [left, right, top, height] = [74, 40, 80, 360];
  const bottom = height - 52;
  const xs = [...new Set(series.flatMap(({ points }) => points.map(({ x }) => x)))].sort((a, b) => a - b);
  const highest = Math.max(...series.flatMap(({ points }) => points.map(({ y }) => y)), Number.MIN_VALUE);
  const ticks = ticksUpTo(highest);
  const maxY = ticks.at(-1)!;
  const maxX = Math.max(...xs, 1);
  const at = (x: number): number =>
    left + (WIDTH - left - right) * (axes.steps ? xs.indexOf(x) / Math.max(xs.length - 1, 1) : x / maxX);
  const up = (y: number): number => bottom - (bottom - top) * (y / maxY);
  const marks = axes.steps ? xs : ticksUpTo(maxX).filter((x) => x <= maxX);
  const drawn = [
    ...ticks.flatMap((y) => [
      `<line class="grid" x1="${left}" x2="${WIDTH - right}" y1="${round(up(y))}" y2="${round(up(y))}"/>`,
      `<text class="small" x="${left - 8}" y="${round(up(y)) + 4}" text-anchor="end">${escape(axes.format(y))}</text>`,
    ]),
    ...marks.map(
      (x) =>
        `<text class="small" x="${round(at(x))}" y="${bottom + 18}" text-anchor="middle">${x.toLocaleString('en')}</text>`,
    ),
    `<line class="axis" x1="${left}" x2="${WIDTH - right}" y1="${bottom}" y2="${bottom}"/>`,
    `<text class="small" x="${(left + WIDTH - right) / 2}" y="${bottom + 38}" text-anchor="middle">${escape(axes.x)}</text>`,
    `<text class="small" x="${MARGIN}" y="${top - 12}">${escape(axes.y)}</text>`,
    ...series.map(({ name, points }, index) => {
      const path = points.map(({ x, y }) => `${round(at(x))},${round(up(y))}`).join(' ');
      const dots = axes.steps
        ? points.map(
            ({ x, y }) =>
              `<circle cx="${round(at(x))}" cy="${round(up(y))}" r="4" fill="${colour(index)}"><title>${escape(`${name}: ${axes.format(y)}`)}</title></circle>`,
          )
        : [];
      return `<polyline points="${path}" fill="none" stroke="${colour(index)}" stroke-width="2.5"/>${dots.join('')}`;
    }),
  ];
  return document(height, title, [
    ...legendOf(
      series.map(({ name }) => name),
      46,
    ),
    ...drawn,
  ]);
}

function document(height: number, title: string, content: string[]): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${escape(title)}">`,
    `<style>${STYLE}\n</style>`,
    `<rect class="ground" x="0.5" y="0.5" width="${WIDTH - 1}" height="${height - 1}" rx="8"/>`,
    `<text class="title" x="${MARGIN}" y="28">${escape(title)}</text>`,
    ...content,
    '</svg>\n',
  ].join('\n');
}

function legendOf(names: string[], y: number): string[] {
  let x = MARGIN;
  return names.flatMap((name, index) => {
    const from = x;
    x += 26 + name.length * 7.5;
    return [
      `<rect x="${round(from)}" y="${y - 10}" width="12" height="12" rx="2" fill="${colour(index)}"/>`,
      `<text x="${round(from) + 17}" y="${y}">${escape(name)}</text>`,
    ];
  });
}

/** From 0 to the first round number that is not below. */
function ticksUpTo(highest: number): number[] {
  const raw = highest / 5;
  const magnitude = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * magnitude).find((size) => size >= raw)!;
  return Array.from({ length: Math.ceil(highest / step) + 1 }, (_, index) => index * step);
}

const colour = (index: number): string => COLOURS[index % COLOURS.length]!;
const round = (value: number): number => Math.round(value * 10) / 10;

function escape(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;');
}
