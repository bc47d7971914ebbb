import type { Results } from '../results.ts';
import { AROUND } from './compareTables.ts';
import { figure } from './markdown.ts';
import { bars, lines } from './svg.ts';

const MIB = 1024 * 1024;

/** A chart and where it belongs. */
export interface Chart {
  name: 'rates' | 'cpu' | 'latency' | 'window' | 'memory' | 'idle';
  svg: string;
}

/** The charts of whatever was measured. */
export function chartsOf(results: Results): Chart[] {
  return [...comparison(results), ...growth(results), ...windowChart(results)];
}

function comparison({ compared }: Results): Chart[] {
  if (compared === undefined || compared.length === 0) return [];
  const withHalf = compared.filter(({ middle }) => middle.half !== null);
  return [
    {
      name: 'rates',
      svg: bars(
        'Messages per second, from the first request to the last acknowledged webhook',
        compared.map(({ title, middle }) => ({
          label: title,
          parts: [{ name: 'messages/s', value: middle.saturated.perSecond }],
        })),
        figure,
      ),
    },
    {
      name: 'cpu',
      svg: bars(
        'CPU milliseconds per message, by process',
        compared.map(({ title, middle }) => ({
          label: title,
          parts: Object.entries(middle.saturated.cpuMs)
            .filter(([name]) => !AROUND.includes(name))
            .map(([name, value]) => ({ name, value: Math.max(0, value) })),
        })),
        (value) => `${figure(value)} ms`,
      ),
    },
    {
      name: 'latency',
      svg: bars(
        'Milliseconds until a request is accepted, at half of the highest rate: median',
        withHalf.map(({ title, middle }) => ({
          label: title,
          parts: [{ name: 'median', value: middle.half!.accept.median }],
        })),
        (value) => `${figure(value)} ms`,
      ),
    },
  ];
}

function growth({ growth }: Results): Chart[] {
  if (growth === undefined) return [];
  const names = Object.keys(growth[0]!.memory);
  const series = (of: 'memory' | 'idleCpuMs', divisor: number) =>
    names.map((name) => ({
      name,
      points: growth.map((step) => ({ x: step.asleep, y: (step[of][name] ?? 0) / divisor })),
    }));
  return [
    {
      name: 'memory',
      svg: lines('Memory while scheduled messages sleep', series('memory', MIB), {
        ...{ x: 'messages asleep', y: 'MiB', steps: true, format: figure },
      }),
    },
    {
      name: 'idle',
      svg: lines('CPU while scheduled messages sleep and nobody asks', series('idleCpuMs', 1), {
        ...{ x: 'messages asleep', y: 'CPU ms per second', steps: true, format: figure },
      }),
    },
  ];
}

function windowChart({ window }: Results): Chart[] {
  if (window === undefined) return [];
  const points = (counts: number[]) => counts.map((y, x) => ({ x, y }));
  return [
    {
      name: 'window',
      svg: lines(
        `A window opens for ${window.messages.toLocaleString('en')} messages, a tenth of them with priority`,
        [
          { name: 'all submits', points: points(window.bySecond.all) },
          { name: 'with priority', points: points(window.bySecond.priority) },
        ],
        { x: 'seconds after the send time', y: 'submits per second', format: figure },
      ),
    },
  ];
}
