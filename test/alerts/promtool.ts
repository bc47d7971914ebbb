import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { goProgram } from '../support/goProgram.ts';

/** The alert rules that operators load. */
export const RULES = new URL('../../ops/prometheus/alerts.yml', import.meta.url).pathname;

const PROMTOOL = {
  title: 'promtool v0.316.0',
  name: 'promtool',
  version: 'v0.316.0',
  path: 'github.com/prometheus/prometheus/cmd/promtool',
};

/** What a Prometheus that loads the rules was given to see. */
export interface Scenario {
  /** By selector, in promtool's notation; one value every 15 s. */
  series: Record<string, string>;
  /** When it is looked whether the alert fires, after the first values: `5m`. */
  at: string;
}

/** An alert that fires, as Alertmanager gets it. */
export interface Firing {
  labels: Record<string, string>;
  summary: string;
}

type Run = (args: readonly string[]) => Promise<{ good: boolean; output: string }>;

/** Builds Prometheus' tool for rules once for this machine. @returns how to run it */
export async function promtool(): Promise<Run> {
  const program = await goProgram(PROMTOOL);
  return async (args) => {
    try {
      const { stdout, stderr } = await promisify(execFile)(program, [...args]);
      return { good: true, output: stdout + stderr };
    } catch (error) {
      const { stdout, stderr } = error as { stdout: string; stderr: string };
      return { good: false, output: stdout + stderr };
    }
  };
}

/**
 * Lets Prometheus evaluate the rules every 15 s over a scenario.
 * @param firing the alerts of that name that are to fire, all of them
 * @returns whether it is so, with what came instead
 */
export async function evaluated(
  run: Run,
  folder: string,
  { alert, scenario, firing }: { alert: string; scenario: Scenario; firing: readonly Firing[] },
): Promise<{ good: boolean; output: string }> {
  const file = join(folder, `${alert}.yml`);
  const expected = firing.map(({ labels, summary }) => ({
    exp_labels: labels,
    exp_annotations: { summary },
  }));
  // JSON is YAML too.
  writeFileSync(
    file,
    JSON.stringify({
      rule_files: [RULES],
      evaluation_interval: '15s',
      tests: [
        {
          interval: '15s',
          input_series: Object.entries(scenario.series).map(([series, values]) => ({ series, values })),
          alert_rule_test: [{ eval_time: scenario.at, alertname: alert, exp_alerts: expected }],
        },
      ],
    }),
  );
  return await run(['test', 'rules', file]);
}
