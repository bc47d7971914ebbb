import { describe, expect, it } from 'vitest';
import { isRobot } from '../../domain/robots.ts';
import { computedMs } from '../support/computed.ts';

describe('isRobot', () => {
  it.each([
    'WhatsApp/2.23.20.0 A',
    'WhatsApp',
    'TelegramBot (like TwitterBot)',
    'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)',
    // What iMessage's preview calls itself.
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_11_1) AppleWebKit/601.2.4 (KHTML, like Gecko) Version/9.0.1 Safari/601.2.4 facebookexternalhit/1.1 Facebot Twitterbot/1.0',
    'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)',
    'Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)',
    'Mozilla/5.0 (Windows NT 6.1; WOW64) SkypeUriPreview Preview/0.5 skype-url-preview@microsoft.com',
    'Viber/13.0',
    'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/120.0 Safari/537.36 PreviewBot/1.0',
    'Mozilla/5.0 (compatible; Yahoo! Slurp; http://help.yahoo.com/help/us/ysearch/slurp)',
    'MobileSMS/1.0 CFNetwork/1404.0.5 Darwin/22.3.0',
    'Dalvik/2.1.0 (Linux; U; Android 12; SM-A125F)',
    'python-requests/2.31 (compatible; ExampleBot/1.0)',
    'Mozilla/5.0',
    // No browser says no more than this, with a window or without one.
    'Chrome/120.0.0.0',
    'HeadlessChrome/120.0.0.0',
    '((((',
  ])('%s: yes', (userAgent) => {
    expect(isRobot(userAgent)).toBe(true);
  });

  it.each([
    undefined,
    '',
    ' ',
    'Mozilla/5.0 (Linux; Android 13; SM-S911B) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/116.0 Mobile Safari/537.36',
    'Mozilla/5.0 (iPhone; CPU iPhone OS 16_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/16.6 Mobile/15E148 Safari/604.1',
    'Mozilla/5.0 (iPhone; CPU iPhone OS 16_6 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148 [FBAN/FBIOS;FBAV/420]',
    'Mozilla/5.0 (Linux; Android 10; CUBOT_X18) AppleWebKit/537.36 Chrome/100 Mobile Safari/537.36',
    'Mozilla/5.0 (Mobile; Nokia_8110_4G; rv:48.0) Gecko/48.0 Firefox/48.0 KAIOS/2.5',
    'Opera/9.80 (J2ME/MIDP; Opera Mini/7.1.32052/29.3709; U; en) Presto/2.8.119 Version/11.10',
    'Nokia6300/2.0 (05.50) Profile/MIDP-2.0 Configuration/CLDC-1.1',
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/120.0.0.0 Safari/537.36',
    'Lynx/2.8.9rel.1 libwww-FM/2.14',
    'curl/8.5.0',
    'Wget/1.21.3 (linux-gnu)',
    'node',
    'undici',
    'node-fetch/1.0 (+https://github.com/bitinn/node-fetch)',
    'axios/1.6.2',
    'python-requests/2.31.0',
    'Python-urllib/3.11',
    'Python/3.11 aiohttp/3.9.1',
    'okhttp/4.12.0',
    'Java/17.0.1',
    'Apache-HttpClient/4.5.13 (Java/17.0.1)',
    'Go-http-client/2.0',
    'PostmanRuntime/7.36.0',
    'node-superagent/8.0.0',
    'k6/0.45 (https://k6.io/)',
    'testclient',
  ])('%s: no', (userAgent) => {
    expect(isRobot(userAgent)).toBe(false);
  });

  it('has done with the longest user agents at once', () => {
    const took = computedMs(() => {
      for (const piece of [
        'a',
        'a/1 ',
        'curl ',
        '(',
        ' ',
        'a.',
        '1.',
        'a/v1.1',
        'Mozilla/5.0 ',
        '1-',
        'bot ',
      ]) {
        isRobot(piece.repeat(16_000 / piece.length));
        isRobot(`Mozilla/5.0 (${piece.repeat(16_000 / piece.length)}`);
      }
    });
    expect(took).toBeLessThan(2000);
  });
});
