import { isbot } from 'isbot';

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
// Programs that look a page up by themselves, beyond those that the library knows.
const OTHER_ROBOT = /\b(?:CFNetwork|Dalvik|Slurp|proofpoint|barracuda|mimecast)\b/i;

/**
 * Whether a user agent is of a program that opens links by itself: a messenger's link preview, a scanner of mails, a
 * crawler. Not of a person's browser, nor of a tool that a person or a program runs deliberately (curl, an HTTP
 * library, a browser without a window). A visitor without a user agent is none.
 *
 * It is a guess by what the visitor says of itself, so no way of a person may depend on it alone.
 */
export function isRobot(userAgent: string | undefined): boolean {
  if (userAgent === undefined || userAgent.trim() === '') return false;
  if (TOOL.test(userAgent)) return ROBOT_WORD.test(userAgent);
  return isbot(userAgent.replace(WINDOWLESS, 'Chrome')) || OTHER_ROBOT.test(userAgent);
}
