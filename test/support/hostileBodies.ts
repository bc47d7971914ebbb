import { z } from 'zod';
import type { Endpoint } from '../../api/http/endpoint.ts';

/** A body that nobody means well by. */
export interface HostileBody {
  name: string;
  type: string;
  body: string;
}

const JSON_TYPE = 'application/json';
const MARK = '\u0301';
// Of another class: composing puts all of them before the others.
const MARK_BELOW = '\u0323';
// In bytes, for texts whose characters take two.
const HALF = 2;
const FIELD_ROOM = 1024 * 1024;
const NUMBERS_MAX = 10_000;
const TOMORROW = new Date(Date.now() + 86_400_000).toISOString();

/** Texts no longer than the longest text of a message, which take work where their marks are put in order. */
const HOSTILE_TEXTS: readonly { name: string; text: string }[] = [
  { name: 'marks of two kinds', text: `a${MARK.repeat(4_999)}${MARK_BELOW.repeat(5_000)}` },
  { name: 'marks of two kinds in turns', text: `a${`${MARK}${MARK_BELOW}`.repeat(4_999)}` },
  {
    name: 'letters with 30 marks of two kinds',
    text: `a${MARK.repeat(15)}${MARK_BELOW.repeat(15)}`.repeat(320),
  },
];

/** What bodies are made for. */
interface Reader {
  /** The fields that it looks at. */
  fields: readonly string[];
  /** One that it takes. */
  example?: unknown;
  /** It takes lists of contacts, and tables of them. */
  tables?: boolean;
}

/** The endpoint as one who reads bodies. */
export function readerOf(endpoint: Endpoint): Reader {
  const { example, parseCsv } = endpoint;
  return { fields: fieldsOf(endpoint), example, tables: parseCsv !== undefined };
}

/** Bodies as large as they may be, in shapes that make work: each is refused, or comes to nothing, or is taken for tomorrow. */
export function hostileBodies(reader: Reader, limit: number): HostileBody[] {
  const all = limit - 64;
  const bodies = [...shapes(all), ...hostileFields(reader, limit)];
  return reader.tables === true ? [...bodies, ...elements(all), ...tables(all)] : bodies;
}

const json = (name: string, body: string): HostileBody => ({ name, type: JSON_TYPE, body });

/** Bodies that are the same whatever is read from them. */
function shapes(all: number): HostileBody[] {
  return [
    json('unknown keys', `{${list(all, (i) => `"k${i}":1`)}}`),
    json('one key twice', `{${list(all, () => '"k":1')}}`),
    json('long keys', `{${list(all, (i) => `"${'k'.repeat(200)}${i}":1`)}}`),
    json('one endless key', `{"${'k'.repeat(all)}":1}`),
    json('escaped keys', `{${list(all, (i) => `"\\u006b${i}":1`)}}`),
    json('brackets', '['.repeat(all)),
    json('braces', '{"a":'.repeat(Math.floor(all / 5))),
    json('closed brackets', `${'['.repeat(all / 2)}${']'.repeat(all / 2)}`),
    json('zeros', `[${list(all, () => '0')}]`),
    json('empty objects', `[${list(all, () => '{}')}]`),
    json('objects with keys of their own', `[${list(all, (i) => `{"k${i}":1,"l${i}":2}`)}]`),
    json('blanks', `${' '.repeat(all)}{}`),
    json('quotes', '"'.repeat(all)),
    json('backslashes', `"${'\\'.repeat(all)}`),
    json('commas', `[${','.repeat(all)}]`),
    json('a long number', '9'.repeat(all)),
  ];
}

/** Of these bodies, those that have something in a field of the reader's. */
export function hostileFields(reader: Reader, limit: number): HostileBody[] {
  const { fields } = reader;
  // Ten times what any field holds is as good as more.
  const room = Math.min(limit - 64, FIELD_ROOM);
  return [
    ...fields.flatMap((field) => [
      json(`${field}: a long text`, `{"${field}":"${'a@b.pl'.repeat(room / 8)}"}`),
      json(`${field}: marks`, `{"${field}":"a${MARK.repeat(room / HALF / HALF)}"}`),
      json(`${field}: letters with 30 marks`, `{"${field}":"${`a${MARK.repeat(30)}`.repeat(room / 64)}"}`),
      json(`${field}: placeholders`, `{"${field}":"${'{{a}}'.repeat(room / 8)}"}`),
      json(`${field}: open placeholders`, `{"${field}":"${'{{link:'.repeat(room / 8)}"}`),
      json(`${field}: escapes`, `{"${field}":"${'\\u0105'.repeat(room / 8)}"}`),
      json(`${field}: numbers`, `{"${field}":[${list(room - 32, (i) => `"+485${10_000_000 + i}"`)}]}`),
      json(`${field}: numbers abroad`, `{"${field}":[${numbers(room, (i) => `+49151${10_000_000 + i}`)}]}`),
      json(`${field}: ten digits`, `{"${field}":[${numbers(room, (i) => `45${20_100_000 + i}`)}]}`),
      json(`${field}: one number again and again`, `{"${field}":[${list(room - 32, () => '"500100200"')}]}`),
      json(`${field}: objects`, `{"${field}":[${list(room - 32, () => '{"a":[]}')}]}`),
      json(`${field}: keys`, `{"${field}":{${list(room - 32, (i) => `"ą${i}":"x"`)}}}`),
    ]),
    json(
      'every field a long text',
      `{${fields.map((field) => `"${field}":"${'ą'.repeat(room / HALF / (fields.length + 1))}"`).join(',')}}`,
    ),
    ...otherwiseValid(reader, room),
  ];
}

/** Bodies that are taken but for one field, which is a hostile text; many of these are taken with it. */
function otherwiseValid({ fields, example }: Reader, room: number): HostileBody[] {
  const long = `a${MARK.repeat(room / HALF / HALF / 2)}${MARK_BELOW.repeat(room / HALF / HALF / 2)}`;
  const texts = [...HOSTILE_TEXTS, { name: 'very many marks of two kinds', text: long }];
  const others = {
    ...(example as Record<string, unknown>),
    // One that is taken must not answer for the next one.
    idx: undefined,
    ...(fields.includes('normalize') ? { normalize: true } : {}),
    // What is taken is not sent.
    ...Object.fromEntries(
      ['send_at', 'date'].filter((one) => fields.includes(one)).map((one) => [one, TOMORROW]),
    ),
  };
  return fields.flatMap((field) =>
    texts.map(({ name, text }) => ({
      name: `otherwise valid, ${field}: ${name}`,
      type: JSON_TYPE,
      body: JSON.stringify({ ...others, [field]: text }),
    })),
  );
}

/** Lists of contacts that are none. */
function elements(room: number): HostileBody[] {
  const share = Math.floor(room / 500) - 200;
  const contacts = (name: string, element: (i: number) => string) => ({
    name: `500 contacts: ${name}`,
    type: JSON_TYPE,
    body: `[${Array.from({ length: 500 }, (_, i) => element(i)).join(',')}]`,
  });
  const number = (i: number) => `"msisdn":"+4850010${1000 + i}"`;
  return [
    contacts('marks in names', (i) => `{${number(i)},"first_name":"a${MARK.repeat(share / HALF / HALF)}"}`),
    contacts('long addresses', (i) => `{${number(i)},"email":"${'a@b.'.repeat(share / 4)}"}`),
    contacts('unknown fields', (i) => `{${number(i)},${list(2_500, (k) => `"k${k}":1`)}}`),
    contacts('fields', (i) => `{${number(i)},"fields":{${list(4_000, (k) => `"pole_${k}":"ą"`)}}}`),
    contacts('groups', (i) => `{${number(i)},"groups":[${list(share, (k) => `"g${i}_${k}"`)}]}`),
    contacts('groups of marks', (i) => `{${number(i)},"groups":["a${MARK.repeat(share / HALF / HALF)}"]}`),
    contacts('arrays', () => `[${list(share / 2, () => '0')}]`),
  ];
}

/** Tables that are none. */
function tables(room: number): HostileBody[] {
  const csv = (name: string, body: string) => ({ name: `table: ${name}`, type: 'text/csv', body });
  const share = Math.floor(room / 500) - 32;
  const rows = (cell: (i: number) => string) =>
    Array.from({ length: 500 }, (_, i) => `50010${1000 + i},${cell(i)}`).join('\n');
  return [
    csv('one line', 'a'.repeat(room)),
    csv('columns', `msisdn${',a'.repeat(room / 2 - 8)}\n`),
    csv('semicolons', `msisdn${';'.repeat(room - 8)}\n`),
    csv('different columns', `msisdn,${list(room - 8, (i) => `k${i}`)}\n`),
    csv('an open quote', `msisdn,"${'a'.repeat(room - 10)}`),
    csv('quotes', `msisdn,"${'""'.repeat(room / 2 - 8)}"\n`),
    csv('rows', `msisdn\n${'1\n'.repeat(room / 2 - 8)}`),
    csv('empty rows', `msisdn\n${'\n'.repeat(room - 8)}`),
    csv('bars', `msisdn,groups\n${rows(() => '|'.repeat(share))}`),
    csv('groups', `msisdn,groups\n${rows(() => 'a|'.repeat(share / 2))}`),
    csv('backslashes', `msisdn,groups\n${rows(() => '\\'.repeat(share))}`),
    csv('cells without a column', `msisdn,email\n${rows(() => ',x'.repeat(share / 2))}`),
    csv('marks', `msisdn,first_name\n${rows(() => `a${MARK.repeat(share / HALF / HALF)}`)}`),
    csv('a column of marks', `msisdn,a${MARK.repeat(room / HALF / HALF)}\n`),
  ];
}

/** As many numbers as fit, and a list may have; reading one that is not Polish costs the most. */
function numbers(room: number, number: (index: number) => string): string {
  return list(Math.min(room - 32, NUMBERS_MAX * (number(0).length + '"",'.length)), (i) => `"${number(i)}"`);
}

/** As many pieces as fit, with commas. */
function list(room: number, piece: (index: number) => string): string {
  const pieces: string[] = [];
  for (let left = room; ;) {
    const next = piece(pieces.length);
    left -= Buffer.byteLength(next) + 1;
    if (left < 0) return pieces.join(',');
    pieces.push(next);
  }
}

const described = z.object({ properties: z.record(z.string(), z.unknown()) });
const oneOf = z.object({ oneOf: z.array(z.unknown()) });

/** The top-level fields of an endpoint's body. */
function fieldsOf({ body }: Endpoint): string[] {
  const schema: unknown = z.toJSONSchema(body!, { io: 'input', unrepresentable: 'any' });
  const several = oneOf.safeParse(schema);
  const found = described.safeParse(
    several.success && !described.safeParse(schema).success ? several.data.oneOf[0] : schema,
  );
  return Object.keys(found.success ? found.data.properties : {});
}
