import { describe, expect, it } from 'vitest';
import { isKnownRobot, isRobot } from '../../domain/links.ts';
import { computedMs } from '../support/computed.ts';

const KNOWN_ROBOTS = [
  'WhatsApp/2.23.20.0 A',
  'TelegramBot (like TwitterBot)',
  'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)',
  'meta-externalagent/1.1 (+https://developers.facebook.com/docs/sharing/webmasters/crawler)',
  'Slack-ImgProxy (+https://api.slack.com/robots)',
  'Mozilla/5.0 (Windows NT 6.1; WOW64) SkypeUriPreview Preview/0.5 skype-url-preview@microsoft.com',
  'kakaotalk-scrap/1.0; +https://devtalk.kakao.com/t/scrap/33984',
  'Iframely/1.3.1 (+https://iframely.com/docs/about)',
  'Mozilla/5.0 (compatible; vkShare; +http://vk.com/dev/Share)',
  'Tumblr/14.0.835.186',
  'Viber/13',
  'Google-Read-Aloud',
  'Mozilla/5.0 (compatible; Yahoo! Slurp; http://help.yahoo.com/help/us/ysearch/slurp)',
  'ia_archiver',
  'python-requests/2.31 (compatible; ExampleBot/1.0)',
  'Mozilla/5.0 (compatible; CensysInspect/1.1; +https://about.censys.io/)',
  'Mozilla/5.0 zgrab/0.x',
  'masscan/1.3',
  'AppEngine; appid: s~virustotalcloud',
  'Barracuda Sentinel (EE)',
  'ClamAV/0.103',
  'MobileSMS/1.0 CFNetwork/1404.0.5 Darwin/22.3.0',
  'Dalvik/2.1.0 (Linux; U; Android 12; SM-A125F)',
  'Mozilla/5.0 (X11; Ubuntu; Linux i686; rv:24.0) Gecko/20100101 Firefox/24.0',
];

// By either of the two.
const VISITORS = [
  undefined,
  ' ',
  'Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0',
  'Mozilla/5.0 (Linux; Android 13; SM-S911B) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/116.0 Mobile Safari/537.36',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 16_6 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148 [FBAN/FBIOS;FBAV/420]',
  'Mozilla/5.0 (Linux; Android 10; CUBOT_X18) AppleWebKit/537.36 Chrome/100 Mobile Safari/537.36',
  'Opera/9.80 (J2ME/MIDP; Opera Mini/7.1.32052/29.3709; U; en) Presto/2.8.119 Version/11.10',
  'Nokia6300/2.0 (05.50) Profile/MIDP-2.0 Configuration/CLDC-1.1',
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/120.0.0.0 Safari/537.36',
  'curl/8.5.0',
  'node',
  'undici',
  'python-requests/2.31.0',
  'Python/3.11 aiohttp/3.9.1',
  'okhttp/4.12.0',
  'Java/17.0.1',
  'Go-http-client/2.0',
  'k6/0.45 (https://k6.io/)',
  'testclient',
];

describe('isRobot', () => {
  it.each([
    ...KNOWN_ROBOTS,
    'Mozilla/5.0',
    // No browser says no more than this, with a window or without one.
    'Chrome/120.0.0.0',
    'HeadlessChrome/120.0.0.0',
    '((((',
  ])('%s: yes', (userAgent) => {
    expect(isRobot(userAgent)).toBe(true);
  });

  it.each(VISITORS)('%s: no', (userAgent) => {
    expect(isRobot(userAgent)).toBe(false);
  });

  it('has done with the longest user agents at once', () => {
    const took = computedMs(() => {
      for (const piece of ['a', 'a/1 ', '(', ' ', 'a.', '1-', 'Mozilla/5.0 ', 'bot ']) {
        for (const judge of [isRobot, isKnownRobot]) {
          judge(piece.repeat(16_000 / piece.length));
          judge(`Mozilla/5.0 (${piece.repeat(16_000 / piece.length)}`);
        }
      }
    });
    expect(took).toBeLessThan(2000);
  });
});

describe('isKnownRobot', () => {
  it.each(KNOWN_ROBOTS)('%s: yes', (userAgent) => {
    expect(isKnownRobot(userAgent)).toBe(true);
  });

  it.each([
    ...VISITORS,
    // Telephones and browsers of all ages.
    'Mozilla/5.0 (Linux; Android 13) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/116.0 Mobile Safari/537.36 Viber/20.1.0.0',
    'Mozilla/5.0 (Unknown; Linux x86_64) AppleWebKit/538.1 (KHTML, like Gecko) PhantomJS/2.1.1 Safari/538.1',
    'Mozilla/5.0 (Linux; Android 13) AppleWebKit/537.36 Chrome/116.0 Mobile Safari/537.36 SogouMobileBrowser/6.0',
    'Mozilla/5.0',
    'HeadlessChrome/120.0.0.0',
    'MAUI WAP Browser',
    'SonyEricssonK750i/R1J',
    'NetSurf/3.10',
    'amaya/11.4.7 libwww/5.4.1',
    'RestSharp/110.2.0.0',
    'Checker/1.0',
    'my-app/2',
    'Symfony HttpClient/Curl',
    'hackney/1.20',
    '((((',
    'x'.repeat(60),
  ])('%s: no', (userAgent) => {
    expect(isKnownRobot(userAgent)).toBe(false);
  });
});
