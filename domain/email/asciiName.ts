import punycode from 'punycode.js';

/**
 * A domain name in A-labels and small letters (IDNA, as browsers do it); null for what is none. An A-label has to stand for something, and to
 * be how that is written: Node.js from 26 on takes any of them.
 */
export function asciiName(name: string): string | null {
  const ascii = hostOf(name);
  return ascii !== null && ascii.split('.').every(isItsOwn) ? ascii : null;
}

function isItsOwn(label: string): boolean {
  if (!label.startsWith('xn--')) return true;
  try {
    return hostOf(punycode.decode(label.slice(4))) === label;
  } catch {
    return false;
  }
}

function hostOf(name: string): string | null {
  const address = `http://${name}/`;
  return URL.canParse(address) ? new URL(address).hostname : null;
}
