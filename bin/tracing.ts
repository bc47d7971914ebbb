import { createRequire } from 'node:module';
import type { Logger } from 'pino';
import type { RunningTraces } from '../telemetry/openTelemetry.ts';
import { ConfigError } from './config.ts';

// The SDK reports an unreachable collector with every batch.
const COMPLAIN_MS = 60_000;
const PROTOCOL = 'http/protobuf';
const SAMPLERS = /^(parentbased_)?(always_on|always_off|traceidratio)$/;

/**
 * Enables tracing where OpenTelemetry's environment variables name a collector; else null, and nothing is loaded. Call it before API and
 * worker start.
 * @param service name unless OTEL_SERVICE_NAME or OTEL_RESOURCE_ATTRIBUTES has one
 * @throws ConfigError naming an unsupported variable
 */
export async function startConfiguredTracing(
  service: string,
  log: Logger,
  env: NodeJS.ProcessEnv = process.env,
): Promise<RunningTraces | null> {
  const collector = collectorOf(env);
  if (collector === null) return null;
  const { openTelemetry } = await import('../telemetry/openTelemetry.ts');
  const { version } = createRequire(import.meta.url)('../package.json') as { version: string };
  let complainedAt = -Infinity;
  const traces = openTelemetry(service, version, (message) => {
    if (Date.now() - complainedAt < COMPLAIN_MS) return;
    complainedAt = Date.now();
    log.warn({ reason: message.split('\n')[0] }, 'traces: could not be handed over');
  });
  log.info({ collector }, 'tracing enabled');
  return traces;
}

function collectorOf(env: NodeJS.ProcessEnv): string | null {
  const given = (name: string): string | undefined => env[name]?.trim() || undefined;
  if (given('OTEL_SDK_DISABLED')?.toLowerCase() === 'true') return null;
  const name = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'].find(given);
  const exporter = given('OTEL_TRACES_EXPORTER') ?? 'otlp';
  if (name === undefined || exporter === 'none') return null;
  if (exporter !== 'otlp') throw new ConfigError('OTEL_TRACES_EXPORTER: must be otlp or none');
  const protocols = ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL'];
  for (const protocol of protocols) {
    if ((given(protocol) ?? PROTOCOL) !== PROTOCOL) throw new ConfigError(`${protocol}: must be ${PROTOCOL}`);
  }
  if (!SAMPLERS.test(given('OTEL_TRACES_SAMPLER') ?? 'always_on')) {
    throw new ConfigError('OTEL_TRACES_SAMPLER: not one of the standard ones');
  }
  const share = Number(given('OTEL_TRACES_SAMPLER_ARG') ?? 1);
  if (!(share >= 0 && share <= 1)) throw new ConfigError('OTEL_TRACES_SAMPLER_ARG: must be from 0 to 1');
  const url = URL.parse(given(name)!);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new ConfigError(`${name}: must be an http(s) address`);
  return url.host;
}
