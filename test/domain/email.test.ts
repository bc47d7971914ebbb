import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addressKey,
  domainName,
  domainOf,
  emailAddress,
  ERASED_ADDRESS,
  maskAddress,
} from '../../domain/email/address.ts';
import {
  ALLOWED_HEADERS,
  allowedHeader,
  attachmentType,
  isContentId,
  isDisplayName,
  isHeaderValue,
} from '../../domain/email/content.ts';
import { affectedRecipients, isIrrelevant, suppressionOf } from '../../domain/email/reports.ts';
import {
  EMAIL_STATUSES,
  RECIPIENT_STATES,
  stateAfter,
  statusOfRecipients,
  suppressionAfter,
} from '../../domain/email/statuses.ts';
import { computedMs } from '../support/computed.ts';

/** A name in ASCII of so many characters, whose labels are as long as they may be. */
function nameOf(length: number): string {
  return `${'d'.repeat(length - 3).replace(/d{64}(?=d)/g, `${'d'.repeat(63)}.`)}.pl`;
}
/** A label of 112 characters that has 62 in ASCII: each letter and its dot are two characters, and stand for one. */
const DECOMPOSED = 'z\u0307'.repeat(56);

describe('an address', () => {
  it('keeps its local part, and has its domain in ASCII and small letters', () => {
    expect(emailAddress('Jan.Kowalski+a@Sklep.PL')).toBe('Jan.Kowalski+a@sklep.pl');
    expect(emailAddress('jan@żółw.pl')).toBe('jan@xn--w-uga1v8h.pl');
    expect(addressKey('Jan@sklep.pl')).toBe('jan@sklep.pl');
    expect(domainOf('jan@sklep.pl')).toBe('sklep.pl');
    expect(maskAddress('jan@sklep.pl')).toBe('j…@sklep.pl');
  });

  it('that was read is read as itself', () => {
    const label = fc.stringMatching(/^[a-zA-Z0-9ąćęłńóśźżабв]{1,20}$/);
    const local = fc.stringMatching(/^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]{1,30}$/);
    fc.assert(
      fc.property(local, fc.array(label, { minLength: 1, maxLength: 4 }), (before, labels) => {
        const read = emailAddress(`${before}@${labels.join('.')}.pl`);
        if (read === null) return;
        expect(emailAddress(read)).toBe(read);
        expect(read).toMatch(/^[\x21-\x7e]+$/);
        expect(read.slice(0, read.lastIndexOf('@'))).toBe(before);
      }),
    );
  });

  it('is never more than one line of visible ASCII, whatever is asked for', () => {
    const nasty = fc.constantFrom(
      ...'\r\n\0 \t"<>()[],:;@.\\%＠。\u202e\u200b\u00ad\ufeffaą1-'.split(''),
      'jan@sklep.pl',
    );
    fc.assert(
      fc.property(fc.array(nasty, { maxLength: 12 }), (pieces) => {
        const read = emailAddress(pieces.join(''));
        if (read !== null) expect(read).toMatch(/^[!#-'*+\-/-9=?A-Z^-~.]{1,64}@[a-z0-9.-]+\.[a-z0-9-]+$/);
      }),
      { numRuns: 500 },
    );
  });

  it('has 64 characters before the @ and 254 in all', () => {
    const longest = `${'a'.repeat(64)}@${nameOf(189)}`;
    expect(longest).toHaveLength(254);
    expect(emailAddress(longest)).toBe(longest);
    expect(emailAddress(`${'a'.repeat(64)}@${nameOf(190)}`)).toBeNull();
    expect(emailAddress(`${'a'.repeat(65)}@b.pl`)).toBeNull();
  });

  it('has 254 characters in all as it is written, and as it is sent to', () => {
    const written = (local: number) => `${'a'.repeat(local)}@${DECOMPOSED}.${DECOMPOSED}.pl`;
    expect(written(25)).toHaveLength(254);
    expect(emailAddress(written(25))).toHaveLength(25 + 1 + 2 * 63 + 2);
    expect(emailAddress(written(26))).toBeNull();
    const sentTo = (name: number) => `${'a'.repeat(64)}@żółw.${nameOf(name)}`;
    expect(emailAddress(sentTo(175))).toBe(`${'a'.repeat(64)}@xn--w-uga1v8h.${nameOf(175)}`);
    expect(emailAddress(sentTo(175))).toHaveLength(254);
    expect(emailAddress(sentTo(176))).toBeNull();
  });

  it('that was erased is shown as ***, which is nobody’s', () => {
    expect(ERASED_ADDRESS).toBe('***');
    expect(emailAddress('***')).toBeNull();
  });
});

describe('a domain', () => {
  it.each([
    ['Sklep.PL', 'sklep.pl'],
    ['a.b.c.sklep.pl', 'a.b.c.sklep.pl'],
    ['xn--w-uga1v8h.pl', 'xn--w-uga1v8h.pl'],
    ['ｓklep.pl', 'sklep.pl'],
    ['пример.рф', 'xn--e1afmkfd.xn--p1ai'],
  ])('%s is %s', (text, name) => {
    expect(domainName(text)).toBe(name);
  });

  it.each([
    ...['', 'pl', '.pl', 'sklep..pl', '-sklep.pl', 'sklep-.pl', 'sk_lep.pl', '1.2.3.4', '0x7f.1'],
    ...['sklep.pl:25', 'a@sklep.pl', 'sk lep.pl', 'sklep.pl\n', '[::1]', `${'a'.repeat(64)}.pl`],
    ...['sklep.pl.', 'sklep.pl1'],
  ])('%j is none', (text) => {
    expect(domainName(text)).toBeNull();
  });

  it.each([
    ['stands for nothing', 'xn---5ga.pl'],
    ['stands for nothing, as the last one', 'sklep.xn---5ga'],
    ['stands for another A-label', 'xn--xn--a--gua.pl'],
  ])('with an A-label that %s is none', (_, text) => {
    expect(domainName(text)).toBeNull();
  });

  it('has 253 characters in all as it is written, and in DNS', () => {
    expect(domainName(nameOf(253))).toBe(nameOf(253));
    expect(domainName(nameOf(254))).toBeNull();
    const written = (length: number) => `${DECOMPOSED}.${DECOMPOSED}.${nameOf(length - 226)}`;
    expect(written(253)).toHaveLength(253);
    expect(domainName(written(253))).not.toBeNull();
    expect(domainName(written(254))).toBeNull();
    expect(domainName(`żółw.${nameOf(239)}`)).toHaveLength(253);
    expect(domainName(`żółw.${nameOf(240)}`)).toBeNull();
  });
});

describe('what an e-mail carries', () => {
  it('headers of the list in any case, of one line of ASCII', () => {
    for (const name of ALLOWED_HEADERS) expect(allowedHeader(name.toUpperCase())).toBe(name);
    for (const name of ['From', 'Bcc', 'X-A', '', 'List-Unsubscribe']) expect(allowedHeader(name)).toBeNull();
    for (const value of ['a', 'a b', '<a@b.pl>', 'a'.repeat(981)]) expect(isHeaderValue(value)).toBe(true);
    for (const value of ['', ' a', 'a ', 'a\r\nb', 'ą', 'a'.repeat(982)])
      expect(isHeaderValue(value)).toBe(false);
  });

  it('files by the last ending of a name without path', () => {
    expect(attachmentType('Faktura 1.PDF')).toBe('application/pdf');
    expect(attachmentType('a.exe.pdf')).toBe('application/pdf');
    expect(attachmentType(`${'a'.repeat(146)}.pdf`)).toBe('application/pdf');
    for (const name of [
      'a.exe',
      'a.pdf.exe',
      '.pdf',
      'pdf',
      'a.',
      '../a.pdf',
      'a\u202e.pdf',
      ' a.pdf',
      `${'a'.repeat(147)}.pdf`,
    ])
      expect([name, attachmentType(name)]).toEqual([name, null]);
    expect([isContentId('logo-1.a_b+c'), isContentId('a'.repeat(101)), isContentId('<a>')]).toEqual([
      true,
      false,
      false,
    ]);
  });

  it('names that are no addresses, whatever a mail program makes of them', () => {
    for (const name of ['Sklep „Żółw”', "O'Brien", '商店', 'a = ?']) expect(isDisplayName(name)).toBe(true);
    for (const name of ['', ' ', 'a@b', 'a <b', 'a"', 'a\nb', '\u202ea', 'a\u200b', '=?utf-8?q?a?='])
      expect(isDisplayName(name)).toBe(false);
    expect([isDisplayName('a'.repeat(100)), isDisplayName('a'.repeat(101))]).toEqual([true, false]);
  });

  it.each(['a＠b', '＝?utf-8?q?a?=', '=？utf-8?q?a?='])(
    'no names that are addresses or encoded words in wide forms: %s',
    (name) => {
      expect(isDisplayName(name)).toBe(false);
    },
  );

  it('names of 100 characters, of which an emoji is one', () => {
    expect([isDisplayName('🐢'.repeat(100)), isDisplayName('🐢'.repeat(101))]).toEqual([true, false]);
  });

  it('names of very many marks are none at once', () => {
    const name = `a${'\u0301'.repeat(100_000)}${'\u0323'.repeat(100_000)}`;
    const took = computedMs(() => expect(isDisplayName(name)).toBe(false));
    expect(took).toBeLessThan(2_000);
  });
});

describe('what becomes of an address', () => {
  const kinds = [
    'sent',
    'delayed',
    'delivered',
    'opened',
    'clicked',
    'bounced',
    'failed',
    'suppressed',
    'complained',
  ] as const;
  const after = (...events: (typeof kinds)[number][]) =>
    events.reduce(
      (state, kind) => stateAfter(state, { kind }),
      'queued' as (typeof RECIPIENT_STATES)[number],
    );

  it.each([
    [['sent', 'delayed'], 'delayed'],
    [['sent', 'delayed', 'delivered'], 'delivered'],
    [['delivered', 'sent', 'delayed'], 'delivered'],
    [['opened'], 'delivered'],
    [['sent', 'bounced'], 'bounced'],
    [['bounced', 'opened'], 'bounced'],
    [['delivered', 'bounced'], 'bounced'],
    [['sent', 'failed'], 'bounced'],
    [['suppressed'], 'bounced'],
    [['complained', 'delivered', 'bounced'], 'complained'],
  ] as const)('after %j it is %s', (events, state) => {
    expect(after(...events)).toBe(state);
  });

  it('is the same in whatever order it is reported, and however often', () => {
    const reordered = fc
      .array(fc.constantFrom(...kinds), { maxLength: 6 })
      .chain((some) =>
        fc.tuple(fc.constant(some), fc.shuffledSubarray([...some, ...some], { minLength: 2 * some.length })),
      );
    fc.assert(
      fc.property(reordered, ([some, again]) => {
        expect(after(...again)).toBe(after(...some));
      }),
    );
  });

  it('stays left out, whatever is reported', () => {
    for (const kind of kinds) expect(stateAfter('suppressed', { kind })).toBe('suppressed');
  });

  it('makes the e-mail: the worst of any, delivered when all are', () => {
    expect(statusOfRecipients(['delivered', 'suppressed'])).toBe('delivered');
    expect(statusOfRecipients(['delivered', 'sent'])).toBe('sent');
    expect(statusOfRecipients(['delayed', 'queued'])).toBe('sent');
    expect(statusOfRecipients(['delivered', 'bounced', 'sent'])).toBe('bounced');
    expect(statusOfRecipients(['bounced', 'complained'])).toBe('complained');
    expect(statusOfRecipients(['suppressed', 'suppressed'])).toBe('suppressed');
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...RECIPIENT_STATES), { minLength: 1 }), (states) => {
        expect(EMAIL_STATUSES).toContain(statusOfRecipients(states));
      }),
    );
  });

  it('keeps it from being written to again after a complaint or a permanent bounce, and while the provider refuses to', () => {
    expect(suppressionAfter({ kind: 'complained', permanent: null })).toBe('complaint');
    expect(suppressionAfter({ kind: 'bounced', permanent: true })).toBe('bounce');
    expect(suppressionAfter({ kind: 'bounced', permanent: false })).toBeNull();
    expect(suppressionAfter({ kind: 'suppressed', permanent: null })).toBe('bounce');
    expect(suppressionAfter({ kind: 'failed', permanent: null })).toBeNull();
    expect(suppressionAfter({ kind: 'failed', permanent: true })).toBeNull();
    expect(suppressionAfter({ kind: 'delivered', permanent: null })).toBeNull();
  });
});

describe('a report', () => {
  const [jan, ola, stranger] = ['Jan@klient.example', 'ola@klient.example', 'obcy@klient.example'];
  const sender = 'Sklep@sklep.example';
  type Row = [kind: 'to' | 'bcc', address: string, state?: 'sent' | 'suppressed'];
  const emailTo = (...rows: Row[]) => ({
    ...{ erased: false, from: sender },
    recipients: rows.map(([kind, address, state = 'sent'], position) => ({ position, kind, address, state })),
  });
  const two = emailTo(['to', jan], ['to', ola]);
  const one = emailTo(['to', jan], ['to', ola, 'suppressed']);
  const copied = emailTo(['to', jan], ['bcc', ola]);
  const oneHidden = emailTo(['to', 'adam@klient.example', 'suppressed'], ['bcc', jan]);
  const hidden = emailTo(['to', 'adam@klient.example', 'suppressed'], ['bcc', jan], ['bcc', ola]);
  const toSelf = emailTo(['to', sender], ['bcc', jan]);
  const erased = <E extends object>(email: E) => ({ ...email, erased: true });

  const of = (...addresses: string[]) => ({ kind: 'complained' as const, permanent: null, addresses });
  const complaint = of();
  const unverified = (...addresses: string[]) => ({ ...of(...addresses), unverified: true });
  const allOfTo = (...addresses: string[]) => ({ ...of(...addresses), namesAllTo: true });
  const bounceOf = (...addresses: string[]) => ({
    ...{ kind: 'bounced' as const, permanent: true, namesAllTo: true, addresses },
  });
  const sentTo = (...addresses: string[]) => ({ ...bounceOf(...addresses), kind: 'sent' as const });
  const whom = (...[report, email]: Parameters<typeof affectedRecipients>) =>
    affectedRecipients(report, email).map(({ position }) => position);

  it.each([
    ['the provider’s, of nobody by name: all', complaint, two, [0, 1]],
    ['unverified, of nobody by name: nobody', unverified(), two, []],
    ['unverified, of nobody by name, of an e-mail to one: that one', unverified(), one, [0]],
    ['of some by name, in any case', of('OLA@klient.example'), two, [1]],
    ['all of `to`: copies too', allOfTo(jan), copied, [0, 1]],
    ['one of several in `to`, though it should name all', allOfTo(ola), two, [1]],
    ['a stranger as all of `to`', allOfTo(stranger), copied, []],
    ['one in `to` by name, with a copy to another', of(jan), copied, [0]],
    ['a stranger as all of `to`, with hidden recipients alone', allOfTo(stranger), hidden, []],
    ['of a stranger', of(stranger), two, []],
    ['unverified, of a stranger', unverified(stranger), two, []],
    ['unverified, of a stranger, of an e-mail to one: that one', unverified(stranger), one, [0]],
    ['all of `to` in other letters, of an e-mail to one', allOfTo('jan@żółw.pl'), one, [0]],
    ['the sender alone in place of hidden recipients', bounceOf(sender), hidden, []],
    ['the sender alone in place of a hidden recipient', bounceOf(sender), oneHidden, [1]],
    ['the sender alone, who has all of it', sentTo(sender), hidden, [1, 2]],
    ['the sender by name, who got no copy', { ...sentTo(sender), namesAllTo: false }, hidden, []],
    ['a hidden recipient beside the sender', bounceOf(sender, jan), hidden, [1]],
    ['a stranger beside the sender', sentTo(sender, stranger), hidden, []],
    ['all of `to`, which is the sender, and a hidden copy', bounceOf(sender), toSelf, [0, 1]],
    ['of one who was left out', of(ola), one, []],
    ['of an erased e-mail to one', of(jan), erased(one), [0]],
    ['of an erased e-mail to several', of(jan), erased(two), []],
  ])('is about whom it names: %s', (_, report, email, positions) => {
    expect(whom(report, email)).toEqual(positions);
  });

  it('is ignored where it is about nobody, and anybody could have written it or it is of the sender’s own copy', () => {
    const idle = (...[report, email]: Parameters<typeof affectedRecipients>) =>
      isIrrelevant(report, email, affectedRecipients(report, email));
    expect(idle(unverified(stranger), two)).toBe(true);
    expect(idle(bounceOf(sender), hidden)).toBe(true);
    expect(idle(sentTo(sender), hidden)).toBe(false);
    expect(idle({ ...bounceOf(sender), namesAllTo: false }, hidden)).toBe(false);
    expect(idle(of(stranger), two)).toBe(false);
    expect(idle(unverified(), two)).toBe(false);
  });

  const atOnce = { address: 'jan@klient.example', ifRepeated: false, reason: 'complaint' };
  it.each([
    ['by its name', of(jan), two, atOnce],
    ['one of several by all their names', of(jan, ola), two, null],
    ['a stranger', of(stranger), two, null],
    ['all of several', complaint, two, null],
    ['all of `to`, with a copy to another', allOfTo(jan), copied, null],
    ['all of `to`, with nobody else', allOfTo(jan), one, atOnce],
    ['of an erased e-mail all of `to`, with a copy to another', allOfTo(jan), erased(copied), null],
    ['of an erased e-mail all of `to`, with nobody else', allOfTo(jan), erased(one), atOnce],
    ['the only one without a name', unverified(), one, atOnce],
    ['the only one, by where it was forwarded to', unverified(stranger), one, atOnce],
    ['one of several by unverified', unverified(ola), two, { ...atOnce, address: ola, ifRepeated: true }],
    ['of an erased e-mail by the provider’s word', of(jan), erased(two), atOnce],
    ['of an erased e-mail by unverified', unverified(jan), erased(one), null],
    ['of an erased e-mail without a name', complaint, erased(one), null],
    ['of an erased e-mail as what is no address', of('***'), erased(one), null],
  ])('suppresses none but the address that it is about alone: %s', (_, report, email, expected) => {
    expect(suppressionOf(report, email)).toEqual(expected);
  });
});
