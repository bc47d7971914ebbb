import { createIsbotFromList, isbot } from 'isbot';
import { ROBOT_PATTERNS } from './robotPatterns.ts';

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
