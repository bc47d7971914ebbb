import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import protobuf from 'protobufjs';

// What these tests read of opentelemetry/proto/collector/trace/v1 and trace/v1, by the field numbers of its definition.
const PROTO = `
  syntax = "proto3";
  message Request { repeated ResourceSpans resource_spans = 1; }
  message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
  message Resource { repeated KeyValue attributes = 1; }
  message ScopeSpans { repeated Span spans = 2; }
  message Span {
    bytes trace_id = 1; bytes span_id = 2; string trace_state = 3; bytes parent_span_id = 4; string name = 5;
    int32 kind = 6; fixed64 start_time_unix_nano = 7; fixed64 end_time_unix_nano = 8;
    repeated KeyValue attributes = 9; repeated Event events = 11; repeated Link links = 13; Status status = 15;
  }
  message Event { string name = 2; repeated KeyValue attributes = 3; }
  message Link { bytes trace_id = 1; bytes span_id = 2; repeated KeyValue attributes = 4; }
  message Status { string message = 2; int32 code = 3; }
  message KeyValue { string key = 1; AnyValue value = 2; }
  message AnyValue {
    oneof value { string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4; }
  }`;
const REQUEST = protobuf.parse(PROTO, { keepCase: false }).root.lookupType('Request');

/** A span as it came, with ids in hexadecimal. */
export interface CollectedSpan {
  service: string;
  traceId: string;
  spanId: string;
  parentSpanId: string | null;
  name: string;
  attributes: Record<string, unknown>;
  links: { traceId: string; spanId: string }[];
  /** 2: error. */
  status: number;
  durationMs: number;
}

/** A stand-in for an OpenTelemetry collector: takes OTLP in protobuf over HTTP. */
export interface Collector {
  url: string;
  spans: CollectedSpan[];
  /** Everything that came, as text. */
  everything(): string;
  /** How many connections were ever made. */
  connections(): number;
  /** What paths were called. */
  paths: Set<string>;
  close(): Promise<void>;
}

interface RawSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes?: KeyValue[];
  links?: { traceId: string; spanId: string }[];
  status?: { code?: number };
}
interface KeyValue {
  key: string;
  value: Record<string, unknown>;
}
interface RawRequest {
  resourceSpans: { resource: { attributes: KeyValue[] }; scopeSpans: { spans: RawSpan[] }[] }[];
}

/** @param status what every request is answered with */
export async function startCollector(status = 200): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  const paths = new Set<string>();
  const bodies: string[] = [];
  let connections = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      paths.add(request.url ?? '');
      const body = REQUEST.toObject(REQUEST.decode(Buffer.concat(chunks)), {
        bytes: String,
        longs: String,
      }) as RawRequest;
      bodies.push(JSON.stringify(body));
      for (const { resource, scopeSpans } of body.resourceSpans) {
        const service = String(values(resource.attributes)['service.name']);
        for (const scope of scopeSpans) spans.push(...scope.spans.map((span) => collected(service, span)));
      }
      response.writeHead(status, { 'content-type': 'application/x-protobuf' }).end();
    });
  });
  server.on('connection', () => (connections += 1));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...{ spans, paths },
    everything: () => bodies.join('\n'),
    connections: () => connections,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function collected(service: string, span: RawSpan): CollectedSpan {
  const parent = span.parentSpanId ?? '';
  return {
    service,
    traceId: hex(span.traceId),
    spanId: hex(span.spanId),
    parentSpanId: parent === '' ? null : hex(parent),
    name: span.name,
    attributes: values(span.attributes ?? []),
    links: (span.links ?? []).map((link) => ({ traceId: hex(link.traceId), spanId: hex(link.spanId) })),
    status: span.status?.code ?? 0,
    durationMs: Number(BigInt(span.endTimeUnixNano) - BigInt(span.startTimeUnixNano)) / 1e6,
  };
}

function values(attributes: KeyValue[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}

function hex(base64: string): string {
  return Buffer.from(base64, 'base64').toString('hex');
}
