import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import pino from 'pino';
import { describe, expect, test } from 'vitest';
import { startConfiguredTracing } from '../../bin/tracing.ts';
import { isTracing } from '../../telemetry/tracing.ts';

const log = pino({ level: 'silent' });
const ENDPOINT = 'http://127.0.0.1:4318';

describe('traces are off', () => {
  test.each([
    ['without any setting', {}],
    ['with a name alone', { OTEL_SERVICE_NAME: 'goniec' }],
    ['with an empty endpoint', { OTEL_EXPORTER_OTLP_ENDPOINT: ' ' }],
    ['disabled', { OTEL_EXPORTER_OTLP_ENDPOINT: ENDPOINT, OTEL_SDK_DISABLED: 'TRUE' }],
    ['with no exporter', { OTEL_EXPORTER_OTLP_ENDPOINT: ENDPOINT, OTEL_TRACES_EXPORTER: 'none' }],
  ])('%s', async (_, env) => {
    expect(await startConfiguredTracing('goniec', log, env)).toBeNull();
    expect(isTracing()).toBe(false);
  });

  test('and then nothing of OpenTelemetry is loaded by API or worker', async () => {
    const program = `
      import { createRequire } from 'node:module';
      import './api/server.ts'; import './worker/worker.ts'; import './bin/tracing.ts';
      const loaded = Object.keys(createRequire(import.meta.url).cache).filter((path) => /@opentelemetry\\/(?!api\\/)/.test(path));
      console.log(JSON.stringify(loaded));`;
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--import', 'tsx', '--input-type=module', '-e', program],
      { cwd: new URL('../..', import.meta.url) },
    );
    expect(JSON.parse(stdout)).toEqual([]);
  });
});

test.each([
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' }, /OTEL_EXPORTER_OTLP_ENDPOINT/],
  [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'ftp://collector' }, /OTEL_EXPORTER_OTLP_TRACES_ENDPOINT/],
  [
    { OTEL_EXPORTER_OTLP_ENDPOINT: ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
    /OTEL_EXPORTER_OTLP_PROTOCOL/,
  ],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: ENDPOINT, OTEL_TRACES_EXPORTER: 'zipkin' }, /OTEL_TRACES_EXPORTER/],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: ENDPOINT, OTEL_TRACES_SAMPLER: 'jaeger_remote' }, /OTEL_TRACES_SAMPLER/],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: ENDPOINT, OTEL_TRACES_SAMPLER_ARG: '10%' }, /OTEL_TRACES_SAMPLER_ARG/],
])('what cannot be followed is refused by name: %o', async (env, name) => {
  await expect(startConfiguredTracing('goniec', log, env)).rejects.toThrow(name);
  expect(isTracing()).toBe(false);
});
