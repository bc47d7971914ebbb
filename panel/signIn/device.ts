// The first that matches: Edge and Opera say that they are Chrome, Chrome that it is Safari, phones that they are computers.
const BROWSERS: readonly [pattern: RegExp, name: string][] = [
  [/\bEdg/, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\bFirefox\/|\bFxiOS\//, 'Firefox'],
  [/\bChrome\/|\bCriOS\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
];
const SYSTEMS: readonly [pattern: RegExp, name: string][] = [
  [/\bAndroid\b/, 'Android'],
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
];

/** Browser and system by a `User-Agent`: `Firefox, Linux`. Null for what is neither. */
export function deviceOf(userAgent = ''): string | null {
  const seen = userAgent.slice(0, 500);
  const named = [BROWSERS, SYSTEMS].map((all) => all.find(([pattern]) => pattern.test(seen))?.[1]);
  return named.filter((name) => name !== undefined).join(', ') || null;
}
