import { stdSerializers } from 'pino';

// Fields about the error, not the data: those of PostgreSQL also hold the row, the statement and its parameters.
const KEPT = ['code', 'severity', 'constraint_name', 'table_name', 'column_name', 'nonRetryable'] as const;
// Data exceptions (class 22) quote the invalid value.
const QUOTING = /^22/;
const PHONE_NUMBER = /\+?\d{9,15}(?!\d)/g;
const QUOTED = /"[^"\n]*"/g;

/** An error for the log: type, message and stack without personal data. */
export function safeError(error: unknown): unknown {
  if (!(error instanceof Error)) return typeof error === 'string' ? masked(error) : typeof error;
  const { type, message, stack } = stdSerializers.err(error);
  const fields = error as unknown as Record<string, unknown>;
  const text = (value: string): string =>
    masked(QUOTING.test(String(fields['code'])) ? value.replace(QUOTED, '"[hidden]"') : value);
  const kept = KEPT.filter((name) => fields[name] !== undefined).map((name) => [name, fields[name]]);
  return { type, message: text(message), stack: text(stack), ...Object.fromEntries(kept) } as unknown;
}

function masked(text: string): string {
  return text.replace(PHONE_NUMBER, '[number]');
}
