import { createIsbotFromList, isbot, list } from 'isbot';

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

/**
 * How many clicks of a minute get a row and a workflow of their own: of one link from one network (of shortened address),
 * of one link, and of all links of an account beyond each link's first. What comes beyond that is counted only. The log of 50
 * clicks that a link shows (v2.3.0, Tracked links) fits into one network's share.
 */
export const CLICK_ROWS_PER_MINUTE = { network: 60, link: 120, account: 600 } as const;

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

// Shapes that many robots share with old telephones, small browsers and HTTP libraries.
const SHAPES: readonly string[] = [
  '(?<!lib)http',
  ';\\s\\w+;$',
  '@[a-z][\\w-]+\\.',
  '\\(\\)',
  '\\.com\\b',
  '\\b\\w+/1\\.0;',
  '\\|',
  '^[<\\(;]',
  '^[\\w \\.\\-\\(?:\\):%]+(?:/v?\\d+(?:\\.\\d+)?(?:\\.\\d{1,10})*?)?(?:,|$)',
  '^[\\w\\-]+/[\\w]+$',
  '^[^ ]{50,}$',
  '^\\d+\\b',
  '^\\w+/[\\w\\(\\)]*$',
  '^\\w+/\\d\\.\\d\\s\\([\\w@]+\\)$',
  '^mozilla/\\d\\.\\d\\s[\\w\\.-]+$',
  '^mozilla/\\d\\.\\d\\s\\((?:compatible;)?(?:\\s?[\\w\\d-.]+[\\s/]\\d+\\.\\d+)?\\)$',
];

// Words that any program may have in its name, and what a telephone says of its Java.
const WORDS: readonly string[] = [
  '(?:^|[^g])news(?!sapphire)',
  '\\bbw/',
  '\\bdlc\\b',
  '\\bort/',
  '\\btime/',
  '^\\w*search\\b',
  '^active',
  '^azure',
  '^client/',
  '^custom',
  '^dispatch/\\d',
  '^email',
  '^offline',
  '^rank',
  '^read',
  '^reed',
  '^rest',
  '^rss',
  '^track',
  'advisor',
  'agent\\b',
  'analyzer',
  'archive',
  'audit',
  'capture',
  'catch',
  'check\\b',
  'checker',
  'detect',
  'discovery',
  'download',
  'feed',
  'grab',
  'insight',
  'inspect',
  'java(?!;)',
  'library',
  'measure',
  'monitor\\b',
  'optimize',
  'parser',
  'proxy',
  'radar',
  'readable/',
  'retriever',
  'rigor',
  'rss\\b',
  'server',
  'splash',
  'synthetic',
  'tools',
  'torrent',
  'transcoder',
  'url',
  'validator',
];

// What somebody starts on purpose.
const TOOLS: readonly string[] = [
  '\\bperl\\b',
  '^apache/',
  '^php',
  '^postman',
  '^python',
  '^wget',
  'cypress/',
  'headless',
  'node\\b',
  'phantomjs',
  'playwright',
  'selenium',
];

const BROWSERS: readonly string[] = [
  '^ad muncher',
  '^amaya',
  '^ddg[_-]android',
  '^jeode/',
  '^navermailapp',
  '^netsurf',
  '^space bison',
  'browsex',
  'chromeframe',
  'cursor/',
  'dmbrowser',
  'firephp',
  'ibisbrowser',
  'offbyone',
  'rexx;',
  'sogou',
];

/** The library's patterns that say nothing of what a program is for: people's browsers and tools fit them as well. */
export const VAGUE_PATTERNS: ReadonlySet<string> = new Set([...SHAPES, ...WORDS, ...TOOLS, ...BROWSERS]);

/** The library's patterns of link previews, crawlers and scanners alone. */
const ROBOT_PATTERNS: readonly string[] = list.filter((pattern) => !VAGUE_PATTERNS.has(pattern));

// Programs that somebody starts on purpose, and browsers for terminals: whoever runs them means the visit.
const TOOL = new RegExp(
  '^(?:curl|wget|httpie|xh|lynx|e?links|w3m|postmanruntime|insomnia|bruno|rest-client|powershell|node|node-fetch|' +
    'node-superagent|superagent|supertest|undici|got|axios|deno|bun|playwright|puppeteer|python|python-requests|' +
    'python-urllib|python-httpx|httpx|testclient|aiohttp|schemathesis|okhttp|ktor-client|java|java-http-client|' +
    'apache-httpclient|go-http-client|k6|autocannon|apachebench|guzzlehttp|php|ruby|faraday|libwww-perl|reqwest|hyper|' +
    'dart)\\b(?!-)',
  'i',
);
// A robot that is built on such a tool says so behind the tool's name.
const ROBOT_WORD = /bot\b|crawl|spider|preview|scan|scrap|check|monitor/i;
// A browser without a window is started on purpose as well: robots that use one call themselves something else.
const WINDOWLESS = 'HeadlessChrome';
// Programs that look a page up by themselves, beyond those that the library knows by a name; robots say where to read about
// them.
const OTHER_ROBOT =
  /^viber\/|^tumblr\/|\b(?:CFNetwork|Dalvik|Slurp|proofpoint|barracuda|mimecast|ia_archiver|zgrab|nmap|virustotal\w*)\b|\+(?:https?:\/\/|mailto:)/i;

const isListed = createIsbotFromList([...ROBOT_PATTERNS]);

/**
 * Whether a user agent looks like that of a program that opens links by itself: a messenger's link preview, a scanner of
 * mails, a crawler, or what no person's browser looks like. Not a tool that a person or a program runs deliberately (curl,
 * an HTTP library, a browser without a window). A visitor without a user agent is none.
 *
 * It is a guess, for what is counted: programs and browsers that nobody has on a list may be taken for robots.
 */
export function isRobot(userAgent: string | undefined): boolean {
  return isOne(userAgent, isbot);
}

/**
 * Whether a user agent is of a link preview, a crawler or a scanner that is known as one. Whatever else there is counts as
 * a person's, who must not be kept from what a visit does by an unusual browser.
 */
export function isKnownRobot(userAgent: string | undefined): boolean {
  return isOne(userAgent, isListed);
}

function isOne(userAgent: string | undefined, fits: (agent: string) => boolean): boolean {
  if (userAgent === undefined || userAgent.trim() === '') return false;
  if (TOOL.test(userAgent)) return ROBOT_WORD.test(userAgent);
  return fits(userAgent.replace(WINDOWLESS, 'Chrome')) || OTHER_ROBOT.test(userAgent);
}
