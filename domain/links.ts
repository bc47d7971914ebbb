import { isbot } from 'isbot';

/** What is stored of a tracked link and shown of it. */
export interface TrackedLinkRow {
  token: string;
  url: string;
  /** The message that is asked about, otherwise the last one that carries the link. */
  messageId: string | null;
  /** MSISDN in E.164 with plus; null: that person was erased. */
  recipient: string | null;
  clicks: number;
  firstClickAt: Date | null;
  lastClickAt: Date | null;
  createdAt: Date;
}

/** A tracked link as the interface shows it: in answers and in webhooks (v2.3.0, TrackedLink). */
export interface TrackedLinkRecord {
  token: string;
  short_url: string;
  url: string;
  message_id: string | null;
  to: string | null;
  clicks: number;
  first_click_at: string | null;
  last_click_at: string | null;
  created_at: string;
}

/** Letters and digits of a link's token (v2.3.0, TrackedLink). */
export const LINK_TOKEN_LENGTH = 8;

/** How many of a link's latest clicks are kept and shown (v2.3.0, Limits); the schema has the same number. */
export const LOGGED_CLICKS = 50;

/**
 * Presents a stored link (v2.3.0, TrackedLink), instants as ISO 8601 in UTC.
 * @param shortUrl where short links lead, with scheme, without a slash at the end
 */
export function linkRecord(row: TrackedLinkRow, shortUrl: string): TrackedLinkRecord {
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

/** Characters of an opt-out token: about 60 bits, beyond all guessing. */
export const OPT_OUT_TOKEN_LENGTH = 10;

/** In place of a token: as long, and none. */
export const NO_OPT_OUT_TOKEN = 'X'.repeat(OPT_OUT_TOKEN_LENGTH);

const LINK = new RegExp(`(/o/)[0-9A-Za-z]{${OPT_OUT_TOKEN_LENGTH}}(?![0-9A-Za-z])`, 'g');

/** A sent text with opt-out links that lead nowhere: whoever opens the real one opts the recipient out. */
export function withoutOptOutTokens(text: string): string {
  return text.replace(LINK, `$1${NO_OPT_OUT_TOKEN}`);
}

// Programs that somebody starts on purpose, and browsers for terminals: whoever runs them means the visit.
const TOOL = new RegExp(
  '^(?:curl|wget|httpie|xh|lynx|e?links|w3m|postmanruntime|insomnia|bruno|rest-client|powershell|node|node-fetch|' +
    'node-superagent|superagent|supertest|undici|got|axios|deno|bun|playwright|puppeteer|python|python-requests|' +
    'python-urllib|python-httpx|httpx|testclient|aiohttp|schemathesis|okhttp|ktor-client|java|java-http-client|' +
    'apache-httpclient|go-http-client|k6|autocannon|apachebench|guzzlehttp|php|ruby|faraday|libwww-perl|reqwest|hyper|' +
    'dart)\\b(?!-)',
  'i',
);
// What robots call themselves. One that is built on such a tool says so behind the tool's name.
const ROBOT_WORD = /bot\b|crawl|spider|preview|scan/i;
// A browser without a window is started on purpose as well: robots that use one call themselves something else.
const WINDOWLESS = 'HeadlessChrome';
// Link previews, crawlers and scanners with none of those words in their names; most say where to read about them.
const NAMED_ROBOT =
  /^viber\/|^tumblr\/|^google-|\b(?:whatsapp|facebookexternalhit|facebookcatalog|CFNetwork|Dalvik|Slurp|clamav|proofpoint|barracuda|mimecast|ia_archiver|zgrab|nmap|virustotal\w*)\b|\+(?:https?:\/\/|mailto:)/i;

/**
 * Whether a user agent looks like that of a program that opens links by itself: a messenger's link preview, a scanner of
 * mails, a crawler, or what no person's browser looks like. Not a tool that a person or a program runs deliberately (curl,
 * an HTTP library, a browser without a window). A visitor without a user agent is none.
 *
 * It is a guess, for what is counted: programs and browsers that nobody has on a list may be taken for robots.
 */
export function isRobot(userAgent: string | undefined): boolean {
  return isOne(userAgent, (agent) => isNamed(agent) || isbot(agent.replace(WINDOWLESS, 'Chrome')));
}

/**
 * Whether a user agent is of a link preview, a crawler or a scanner that is known as one. Whatever else there is counts as
 * a person's, who must not be kept from what a visit does by an unusual browser.
 */
export function isKnownRobot(userAgent: string | undefined): boolean {
  return isOne(userAgent, isNamed);
}

function isNamed(userAgent: string): boolean {
  return ROBOT_WORD.test(userAgent) || NAMED_ROBOT.test(userAgent);
}

function isOne(userAgent: string | undefined, fits: (agent: string) => boolean): boolean {
  if (userAgent === undefined || userAgent.trim() === '') return false;
  if (TOOL.test(userAgent)) return ROBOT_WORD.test(userAgent);
  return fits(userAgent);
}
