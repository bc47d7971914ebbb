/** One line of Prometheus' text format. */
export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

/** What one process serves. */
export interface Scrape {
  text: string;
  samples: Sample[];
  /** Type by the name of the metric, without the suffixes of histograms. */
  types: Map<string, string>;
  /** The values of all samples of this name that have these labels, added; undefined when there is none. */
  sum: (name: string, labels?: Record<string, string>) => number | undefined;
}

/** Reads what a process serves at `/metrics`; throws for what is not in the format. */
export async function scrape(port: number): Promise<Scrape> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`);
  if (!response.ok) throw new Error(`/metrics answered ${response.status}`);
  const text = await response.text();
  const { samples, types } = parse(text);
  return {
    ...{ text, samples, types },
    sum: (name, labels = {}) => {
      const found = samples.filter(
        (sample) =>
          sample.name === name &&
          Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
      );
      return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0);
    },
  };
}

// What Go's ParseFloat takes, as far as anybody writes it.
const NUMBER = /^(nan|[+-]?inf|[+-]?\d+(\.\d+)?(e[+-]?\d+)?)$/i;

/** Strictly: https://prometheus.io/docs/instrumenting/exposition_formats/ */
function parse(text: string): { samples: Sample[]; types: Map<string, string> } {
  const types = new Map<string, string>();
  const samples: Sample[] = [];
  const seen = new Set<string>();
  for (const line of text.split('\n').filter((each) => each !== '')) {
    const comment = /^# (?:HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) .*|TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (\w+))$/.exec(
      line,
    );
    if (comment?.[2] !== undefined) {
      if (types.has(comment[2])) throw new Error(`two types of ${comment[2]}`);
      types.set(comment[2], comment[3]!);
    }
    if (comment !== null) continue;
    const sample = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (sample === null || !NUMBER.test(sample[3]!)) throw new Error(`not in the format: ${line}`);
    const key = `${sample[1]}{${sample[2] ?? ''}}`;
    if (seen.has(key)) throw new Error(`twice: ${key}`);
    seen.add(key);
    const labels = [...(sample[2] ?? '').matchAll(/([a-z_]+)="((?:[^"\\]|\\.)*)"(?:,|$)/gi)];
    samples.push({
      name: sample[1]!,
      labels: Object.fromEntries(labels.map(([, label, content]) => [label!, content!])),
      value: Number(sample[3]),
    });
  }
  return { samples, types };
}
