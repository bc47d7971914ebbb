import { isIP, isIPv4, isIPv6 } from 'node:net';
import { resolve } from 'node:path';
import { z } from 'zod';
import { LOOPBACK_HOSTS } from '../domain/addresses.ts';
import { TOP_UP_KINDS } from '../domain/fa3.ts';
import { isId, isOneLine } from '../domain/ids.ts';
import { isSenderName } from '../domain/msisdn.ts';
import { MAX_CONFIRM_GROSZE, MAX_CONFIRM_RECIPIENTS, MAX_GROSZE } from '../domain/money.ts';
import { isNip, type Seller } from '../domain/parties.ts';
import { publicUrl } from '../providers/http.ts';

const flag = z.enum(['true', 'false', '1', '0']).transform((value) => value === 'true' || value === '1');
const count = (min: number, max: number) =>
  z.string().regex(/^\d+$/, 'must be a whole number').transform(Number).pipe(z.number().min(min).max(max));

const line = (max: number) => z.string().max(max).refine(isOneLine, 'must be one line');

const DNS_SERVERS_MAX = 10;
const dnsServers = z
  .string()
  .transform((list) => list.split(',').map((server) => server.trim()))
  .refine(
    (servers) => servers.length <= DNS_SERVERS_MAX && servers.every(isDnsServer),
    `must be up to ${DNS_SERVERS_MAX} addresses such as 192.0.2.1, 192.0.2.1:5353 or [2001:db8::1]:53, separated by commas`,
  );

function isDnsServer(server: string): boolean {
  if (isIP(server) !== 0) return true;
  const [, v6, v4, port] = /^(?:\[([^\]]+)\]|([^:]+)):([0-9]{1,5})$/.exec(server) ?? [];
  return (isIPv6(v6 ?? '') || isIPv4(v4 ?? '')) && Number(port) >= 1 && Number(port) <= 65535;
}

// Browsers bind cookies to a host over https alone.
const panelUrl = publicUrl.refine((url) => {
  const { origin, protocol, hostname } = new URL(url);
  return url === origin && (protocol === 'https:' || LOOPBACK_HOSTS.has(hostname));
}, 'must be https://HOST without a path; http:// only on this machine');

const environment = z.object({
  PORT: count(0, 65535).default(3000),
  HOST: z.string().min(1).optional(),
  DATA_DIR: z
    .string()
    .min(1)
    .default('.data')
    .transform((path) => resolve(path)),
  PUBLIC_URL: publicUrl.optional(),
  SHORT_URL: publicUrl.optional(),
  MCP_URL: publicUrl.optional(),
  PANEL_URL: panelUrl.optional(),
  CONSOLE_PORT: count(0, 65535).optional(),
  CONSOLE_HOST: z.string().min(1).default('127.0.0.1'),
  CONSOLE_URL: panelUrl.optional(),
  CONSOLE_SECOND_PERSON_GROSZE: count(0, MAX_GROSZE).default(100_000),
  TRUST_PROXY: flag.default(false),
  SIMULATOR_PUBLIC: flag.default(false),
  REQUESTS_AT_ONCE: count(1, 100_000).default(120),
  HEAVY_REQUESTS_AT_ONCE: count(1, 1_000).default(2),
  MCP_CONFIRM_RECIPIENTS: count(0, MAX_CONFIRM_RECIPIENTS).default(10),
  MCP_CONFIRM_GROSZE: count(0, MAX_CONFIRM_GROSZE).default(500),
  METRICS_PORT: count(0, 65535).optional(),
  METRICS_HOST: z.string().min(1).default('127.0.0.1'),
  PROMETHEUS_URL: publicUrl.optional(),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  WEBHOOK_ALLOW_PRIVATE: flag.default(false),
  DNS_SERVERS: dnsServers.optional(),
  OWN_EMAIL_ACCOUNT: z
    .string()
    .refine((id) => isId('cl', id), 'must be the id of an account, cl_…')
    .optional(),
  NUMBER_CODES_A_DAY: count(0, 1_000_000).default(200),
  SIGN_UP_EMAILS_A_DAY: count(0, 1_000_000).default(4_000),
  SIGN_IN_EMAILS_A_DAY: count(0, 1_000_000).default(5_000),
  PAYMENT_PROCESSOR: z.enum(['simulated', 'stripe']).optional(),
  STRIPE_KEY: z
    .string()
    .regex(/^[rs]k_(test|live)_[A-Za-z0-9]+$/, 'must be a secret or restricted key of Stripe, sk_… or rk_…')
    .optional(),
  STRIPE_WEBHOOK_SECRETS: z
    .string()
    .transform((list) => list.split(',').map((secret) => secret.trim()))
    .refine(
      (secrets) => secrets.length <= 2 && secrets.every((secret) => secret.startsWith('whsec_')),
      'must be one or, while it is rotated, two secrets whsec_…, separated by a comma',
    )
    .optional(),
  SELLER_NAME: line(200).optional(),
  SELLER_NIP: z.string().refine(isNip, 'must be a NIP of ten digits').optional(),
  SELLER_STREET: line(200).optional(),
  SELLER_POSTAL_CODE: z
    .string()
    .regex(/^[0-9]{2}-[0-9]{3}$/, 'must be a postal code such as 00-950')
    .optional(),
  SELLER_CITY: line(100).optional(),
  SELLER_IBAN: z
    .string()
    .transform((iban) => iban.replaceAll(' ', ''))
    .refine((iban) => /^PL[0-9]{26}$/.test(iban), 'must be a Polish IBAN, PL and 26 digits')
    .optional(),
  INVOICE_KIND: z.enum(TOP_UP_KINDS).default('VAT'),
  INVOICE_NUMBER: line(100)
    .refine(
      (pattern) =>
        pattern.includes('{year}') &&
        pattern.includes('{n}') &&
        !/[{}]/.test(pattern.replace(/\{(?:year|month|n)\}/g, '')),
      'must be a pattern such as GON/{year}/{n}, with {year} and {n}, and {month} where it is wanted',
    )
    .optional(),
  // Replies are matched to messages of the last 30 days.
  RETAIN_CONTENT_DAYS: count(31, 36500).optional(),
  RETAIN_LOG_DAYS: count(31, 36500).default(90),
  WORKFLOW_CALL_STACKS: flag.default(true),
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/ }).optional(),
  DATABASE_POOL: count(1, 200).default(10),
  TEMPORAL_ADDRESS: z
    .string()
    .regex(/^[^\s:/]+:\d+$|^\[[0-9a-fA-F:]+\]:\d+$/, 'must be host:port')
    .optional(),
  TEMPORAL_NAMESPACE: z.string().min(1).default('default'),
  TEMPORAL_API_KEY: z.string().min(1).optional(),
  TEMPORAL_TLS: flag.optional(),
  TEMPORAL_TLS_SERVER_NAME: z.string().min(1).optional(),
  TEMPORAL_TLS_CA: z.string().min(1).optional(),
  TEMPORAL_TLS_CERT: z.string().min(1).optional(),
  TEMPORAL_TLS_KEY: z.string().min(1).optional(),
  TEMPORAL_UI_URL: publicUrl.optional(),
  TEMPORAL_CLI_PATH: z.string().min(1).optional(),
  SECRETS_KEY: z
    .string()
    .regex(/^[A-Za-z0-9+/]{43}=$/, 'must be 32 bytes in base64 (openssl rand -base64 32)')
    .optional(),
  ADMIN_ACTOR: z
    .string()
    .regex(/^[^\p{C}\p{Zl}\p{Zp}]{1,64}$/u, 'must be 1 to 64 printable characters')
    .refine((name) => name.trim() === name, 'must neither begin nor end with a blank')
    .optional(),
  DEFAULT_SENDER: z
    .string()
    .refine(
      isSenderName,
      'must be a name of 1 to 11 letters, digits or one of " .&_-", or a number of 3 to 15 digits',
    )
    .default('INFO'),
});

/** Settings of every process from the environment; names as in `.env.example`. */
export type Config = z.infer<typeof environment>;

/** The message names the setting. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

// A misspelt setting with one of our prefixes would silently do nothing; other variables are ignored.
const OWN_FAMILIES =
  // Not all of REQUESTS_: REQUESTS_CA_BUNDLE belongs to other software.
  /^(WEBHOOK|REQUESTS_AT|HEAVY|MCP|PANEL|CONSOLE|SIMULATOR|DATABASE|TEMPORAL|SECRETS|SHORT|METRICS|RETAIN|WORKFLOW|DNS|OWN_EMAIL|NUMBER_CODES|SIGN_UP|SIGN_IN|PAYMENT|STRIPE|SELLER|INVOICE)_/;

// Of the `temporal` command line, used in staff's shells.
const OF_TEMPORAL_CLI =
  /^TEMPORAL_(?:PROFILE|CONFIG_FILE|ENV|ENV_FILE|CODEC_ENDPOINT|CODEC_AUTH|GRPC_META_\w+|TLS_DISABLE_HOST_VERIFICATION|TLS_(?:CLIENT_CERT|CLIENT_KEY|SERVER_CA_CERT)_(?:PATH|DATA))$/;

// Kubernetes sets the addresses of a namespace's services in every container; a service's name may begin with one of our prefixes.
const SERVICE_LINK = /_SERVICE_(?:HOST|PORT(?:_\w+)?)$|_PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?$/;
const isServiceLink = (name: string, value: string): boolean =>
  SERVICE_LINK.test(name) || (name.endsWith('_PORT') && /^(?:tcp|udp|sctp):\/\//.test(value));

/** Empty variables and Kubernetes service links count as absent. @throws ConfigError naming every malformed or unknown setting of ours */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const given = Object.fromEntries(
    Object.entries(env).filter(
      ([name, value]) => value !== undefined && value !== '' && !isServiceLink(name, value),
    ),
  );
  const unknown = Object.keys(given).filter(
    (name) => OWN_FAMILIES.test(name) && !(name in environment.shape) && !OF_TEMPORAL_CLI.test(name),
  );
  const parsed = environment.safeParse(given);
  const problems = [
    ...unknown.map((name) => `${name}: unknown setting`),
    ...(parsed.success
      ? []
      : parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`)),
  ];
  if (!parsed.success || problems.length > 0) throw new ConfigError(problems.join('; '));
  return parsed.data;
}

/** Base URL of short links for a process without the API. */
export function shortUrlOf(config: Pick<Config, 'PORT' | 'PUBLIC_URL' | 'SHORT_URL'>): string {
  return config.SHORT_URL ?? config.PUBLIC_URL ?? `http://localhost:${config.PORT}`;
}

/** The operator as documents name it; null while a part of it is not set. */
export function sellerOf({
  SELLER_NAME: name,
  SELLER_NIP: nip,
  SELLER_STREET: street,
  SELLER_POSTAL_CODE: postalCode,
  SELLER_CITY: city,
  SELLER_IBAN: iban,
}: Pick<
  Config,
  'SELLER_NAME' | 'SELLER_NIP' | 'SELLER_STREET' | 'SELLER_POSTAL_CODE' | 'SELLER_CITY' | 'SELLER_IBAN'
>): Seller | null {
  if (!name || !nip || !street || !postalCode || !city) return null;
  return { name, nip, street, postalCode, city, iban: iban ?? null };
}
