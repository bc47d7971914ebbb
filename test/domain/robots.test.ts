import { describe, expect, it } from 'vitest';
import { isKnownRobot, isRobot } from '../../domain/links.ts';
import { computedMs } from '../support/computed.ts';

const KNOWN_ROBOTS = [
  'WhatsApp/2.23.20.0 A',
  'WhatsApp',
  'TelegramBot (like TwitterBot)',
  'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)',
  'facebookcatalog/1.0',
  'meta-externalagent/1.1 (+https://developers.facebook.com/docs/sharing/webmasters/crawler)',
  // What iMessage's preview calls itself.
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_11_1) AppleWebKit/601.2.4 (KHTML, like Gecko) Version/9.0.1 Safari/601.2.4 facebookexternalhit/1.1 Facebot Twitterbot/1.0',
  'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)',
  'Slack-ImgProxy (+https://api.slack.com/robots)',
  'Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)',
  'Mozilla/5.0 (Windows NT 6.1; WOW64) SkypeUriPreview Preview/0.5 skype-url-preview@microsoft.com',
  'LinkedInBot/1.0 (compatible; Mozilla/5.0; Apache-HttpClient +http://www.linkedin.com)',
  'Snap URL Preview Service; bot; snapchat; https://developers.snapchat.com/robots',
  'kakaotalk-scrap/1.0; +https://devtalk.kakao.com/t/scrap/33984',
  'Iframely/1.3.1 (+https://iframely.com/docs/about)',
  'Mastodon/4.2.1 (http.rb/5.1.1; +https://mastodon.social/)',
  'Mozilla/5.0 (compatible; vkShare; +http://vk.com/dev/Share)',
  'Bluesky Cardyb/1.1; +mailto:support@bsky.app',
  'Tumblr/14.0.835.186',
  'Viber/13.0',
  'Viber/13',
  'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
  'Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)',
  'Google-Read-Aloud',
  'Mozilla/5.0 (compatible; Yahoo! Slurp; http://help.yahoo.com/help/us/ysearch/slurp)',
  'ia_archiver',
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/120.0 Safari/537.36 PreviewBot/1.0',
  'python-requests/2.31 (compatible; ExampleBot/1.0)',
  'Mozilla/5.0 (compatible; CensysInspect/1.1; +https://about.censys.io/)',
  'Mozilla/5.0 zgrab/0.x',
  'masscan/1.3',
  'Mozilla/5.0 (compatible; Nmap Scripting Engine; https://nmap.org/book/nse.html)',
  'AppEngine; appid: s~virustotalcloud',
  'Barracuda Sentinel (EE)',
  'ClamAV/0.103',
  'MobileSMS/1.0 CFNetwork/1404.0.5 Darwin/22.3.0',
  'Dalvik/2.1.0 (Linux; U; Android 12; SM-A125F)',
];

// By either of the two.
const VISITORS = [
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
    'Mozilla/5.0 (Linux; Android 13) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/116.0 Mobile Safari/537.36 Tumblr/34.1',
    'Mozilla/5.0 (Unknown; Linux x86_64) AppleWebKit/538.1 (KHTML, like Gecko) PhantomJS/2.1.1 Safari/538.1',
    'Mozilla/5.0 (Windows NT 10.0; WOW64; Trident/7.0; chromeframe/32; rv:11.0) like Gecko',
    'Mozilla/5.0 (Linux; Android 13) AppleWebKit/537.36 Chrome/116.0 Mobile Safari/537.36 SogouMobileBrowser/6.0',
    'Mozilla/4.0 (compatible; MSIE 6.0)',
    'Mozilla/5.0',
    'Chrome/120.0.0.0',
    'HeadlessChrome/120.0.0.0',
    'MAUI WAP Browser',
    'Nokia3310',
    'SonyEricssonK750i/R1J',
    'LG-KU990i/V10a Browser/Obigo-Q05A/3.6 MMS/LG-MMS-V1.0/1.2 Java/ASVM/1.1 Profile/MIDP-2.0',
    'BlackBerry8520/5.0.0.681 Profile/MIDP-2.1 Configuration/CLDC-1.1 VendorID/603',
    'Opera/8.01 (J2ME/MIDP; Opera Mini/1.0.1479/HiFi; SonyEricsson P900; no; U; ssr)',
    'NetSurf/3.10',
    'Dillo/3.0.5',
    'ELinks/0.13',
    'amaya/11.4.7 libwww/5.4.1',
    // Programs and libraries that nobody has on a list.
    'RestSharp/110',
    'RestSharp/110.2.0.0',
    'urllib3/2.0',
    'Checker/1.0',
    'my-client',
    'my-app/2',
    'client/1.0',
    'test agent',
    'com.example.app/3',
    'Symfony HttpClient/Curl',
    'GuzzleHttp/7',
    'lua-resty-http/0.17',
    'hackney/1.20',
    'Mechanize',
    'Swift/5',
    '((((',
    '1',
    'x'.repeat(60),
  ])('%s: no', (userAgent) => {
    expect(isKnownRobot(userAgent)).toBe(false);
  });
});
