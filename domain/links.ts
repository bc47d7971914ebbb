import { isbot } from 'isbot';

export interface TrackedLinkRow {
  token: string;
  url: string;
  /** The requested message, else the last one with the link. */
  messageId: string | null;
  /** MSISDN in E.164 with plus; null after erasure. */
  recipient: string | null;
  clicks: number;
  firstClickAt: Date | null;
  lastClickAt: Date | null;
  createdAt: Date;
}

export type TrackedLinkRecord = ReturnType<typeof linkRecord>;

/** The token at the beginning of what was opened as a link, which may have caught the signs behind it; null for no token. */
export function linkToken(opened: string | undefined, length: number): string | null {
  return new RegExp(`^[0-9A-Za-z]{${length}}(?![0-9A-Za-z])`).exec(opened ?? '')?.[0] ?? null;
}

/** v2.3.0, TrackedLink. */
export const LINK_TOKEN_LENGTH = 8;

/** Latest clicks kept and shown per link (v2.3.0, Limits); the schema has the same number. */
export const LOGGED_CLICKS = 50;

/** Presents a stored link (v2.3.0, TrackedLink). @param shortUrl base of short links: with scheme, without trailing slash */
export function linkRecord(row: TrackedLinkRow, shortUrl: string) {
  return {
    token: row.token,
    short_url: `${shortUrl}/l/${row.token}`,
    url: row.url,
    message_id: row.messageId,
    to: row.recipient,
    clicks: row.clicks,
    first_click_at: row.firstClickAt?.toISOString() ?? null,
    last_click_at: row.lastClickAt?.toISOString() ?? null,
    created_at: row.createdAt.toISOString(),
  };
}

/** In characters: about 60 bits, beyond guessing. */
export const OPT_OUT_TOKEN_LENGTH = 10;

/** As long as a token, but never valid. */
export const NO_OPT_OUT_TOKEN = 'X'.repeat(OPT_OUT_TOKEN_LENGTH);

const LINK = new RegExp(`(/o/)[0-9A-Za-z]{${OPT_OUT_TOKEN_LENGTH}}(?![0-9A-Za-z])`, 'g');

/** Invalidates the opt-out links of a sent text: opening a real one opts the recipient out. */
export function withoutOptOutTokens(text: string): string {
  return text.replace(LINK, `$1${NO_OPT_OUT_TOKEN}`);
}

// HTTP tools and text browsers, which run on purpose: their visits count.
const TOOL = new RegExp(
  '^(?:curl|wget|httpie|xh|lynx|e?links|w3m|postmanruntime|insomnia|bruno|rest-client|powershell|node|node-fetch|' +
    'node-superagent|superagent|supertest|undici|got|axios|deno|bun|playwright|puppeteer|python|python-requests|' +
    'python-urllib|python-httpx|httpx|testclient|aiohttp|schemathesis|okhttp|ktor-client|java|java-http-client|' +
    'apache-httpclient|go-http-client|k6|autocannon|apachebench|guzzlehttp|php|ruby|faraday|libwww-perl|reqwest|hyper|' +
    'dart)\\b(?!-)',
  'i',
);
// How robots identify themselves; one built on such a tool says so after the tool's name.
const ROBOT_WORD = /bot\b|crawl|spider|preview|scan/i;
// A headless browser also runs on purpose; robots that use one identify themselves.
const WINDOWLESS = 'HeadlessChrome';
// Link previews, crawlers and scanners without such a word in their names; most include a URL about themselves.
const NAMED_ROBOT =
  /^viber\/|^tumblr\/|^google-|\b(?:whatsapp|facebookexternalhit|facebookcatalog|CFNetwork|Dalvik|Slurp|clamav|proofpoint|barracuda|mimecast|ia_archiver|zgrab|nmap|virustotal\w*)\b|\+(?:https?:\/\/|mailto:)/i;

// The preview of Samsung's SMS program, which calls itself a browser of 2013 (https://github.com/matomo-org/device-detector/issues/5962).
const SAMSUNG_PREVIEW = 'Mozilla/5.0 (X11; Ubuntu; Linux i686; rv:24.0) Gecko/20100101 Firefox/24.0';

/** Guesses whether a program opened the link by itself, for counting only. Tools run on purpose, such as curl, are not robots. */
export function isRobot(userAgent: string | undefined): boolean {
  return matchesAgent(
    userAgent,
    (agent) => isNamedRobot(agent) || isbot(agent.replace(WINDOWLESS, 'Chrome')),
  );
}

/** Whether the user agent is a known robot. Anything else counts as a person, whom an unusual browser must not lock out. */
export function isKnownRobot(userAgent: string | undefined): boolean {
  return matchesAgent(userAgent, isNamedRobot);
}

function isNamedRobot(userAgent: string): boolean {
  return ROBOT_WORD.test(userAgent) || NAMED_ROBOT.test(userAgent) || userAgent === SAMSUNG_PREVIEW;
}

function matchesAgent(userAgent: string | undefined, fits: (agent: string) => boolean): boolean {
  if (userAgent === undefined || userAgent.trim() === '') return false;
  if (TOOL.test(userAgent)) return ROBOT_WORD.test(userAgent);
  return fits(userAgent);
}
