import { readFileSync } from 'node:fs';

/** An expression in PromQL, and where it stands. */
export interface Query {
  where: string;
  expression: string;
}

interface AlertRule {
  name: string;
  expression: string;
}

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

interface Panel {
  title: string;
  targets?: { refId: string; expr: string }[];
}

/** What the panels of the Grafana dashboard ask for. */
export function dashboardQueries(): Query[] {
  const { panels } = JSON.parse(read('ops/grafana/goniec.json')) as { panels: Panel[] };
  return panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({ where: title, expression: expr })),
  );
}

/** The alert rules; reads the one form of YAML that the file is written in, and throws for any other. */
export function alertRules(): AlertRule[] {
  const blocks = read('ops/prometheus/alerts.yml')
    .split(/^ {6}- alert: /m)
    .slice(1);
  return blocks.map((block) => {
    const rule =
      /^(?<name>\w+)\n {8}expr: (?:>\n(?<folded>(?: {10}.+\n)+)|(?<plain>.+)\n)(?: {8}for: (?<duration>\d+[smh])\n)?(?: {8}# .+\n {8}keep_firing_for: \d+[smh]\n)? {8}labels: \{ severity: (?<severity>\w+) \}\n {8}annotations:\n {10}summary: '(?<summary>[^'\n]+)'\n(?:\n {2}- name: [\w-]+\n {4}rules:\n)?$/.exec(
        block,
      )?.groups;
    if (rule === undefined) throw new Error(`not understood: ${block}`);
    return {
      name: rule['name']!,
      expression: (rule['folded'] ?? rule['plain']!).replaceAll(/\s+/g, ' ').trim(),
    };
  });
}

/** A metric in an expression, with the labels that are asked of it. */
interface Selector {
  metric: string;
  labels: string[];
}

// Words of PromQL that are followed by no bracket.
const WORDS = new Set(['by', 'on', 'and', 'or', 'unless', 'without', 'ignoring', 'bool']);

/** The metrics of an expression. */
export function selectorsOf(expression: string): Selector[] {
  const withoutGrouping = expression.replaceAll(/\b(by|on|without|ignoring) \([^)]*\)/g, ' ');
  const texts: string[] = [];
  const bare = withoutGrouping.replaceAll(/"(?:[^"\\]|\\.)*"/g, (text) => `"${texts.push(text)}"`);
  const found: Selector[] = [];
  for (const [, name = '', list = ''] of bare.matchAll(
    /(?<![\w"$[.{,])([a-z_:][\w:]*)(?!\w|\s*\()(?:\{([^}]*)\})?/g,
  )) {
    if (WORDS.has(name)) continue;
    found.push({ metric: name, labels: [...list.matchAll(/(\w+)\s*[=!]~?/g)].map(([, label]) => label!) });
  }
  return found;
}

/** The values of labels that an expression asks of a metric, those of `a|b` one by one. */
export function valuesAskedFor(expression: string): { metric: string; label: string; value: string }[] {
  return [...expression.matchAll(/([a-z_:][\w:]*)\{([^}]*)\}/g)].flatMap(([, metric = '', list = '']) =>
    [...list.matchAll(/(\w+)=~?"([^"]*)"/g)].flatMap(([, label = '', values = '']) =>
      values.split('|').map((value) => ({ metric, label, value })),
    ),
  );
}
