const PARTS_MAX = 20;
const DEPTH_MAX = 4;
const HEADERS_MAX = 1_000;

/** Header fields by their names in small letters; of several of one name the first. */
export type Fields = ReadonlyMap<string, string>;

/** A part of a message that has none itself. */
export interface Part {
  /** `message/delivery-status`, in small letters. */
  type: string;
  text: string;
}

/** A message that somebody sent us, as far as it is of interest. */
export interface ReadMessage {
  headers: Fields;
  type: string;
  /** Of its content type. */
  reportType: string | null;
  /** In their order, those in multiparts within multiparts too; at most twenty. */
  parts: readonly Part[];
}

/**
 * Reads a message (RFC 5322, RFC 2046) that may be anything. What is no header or no part is passed over; a message within it is
 * one part, and not looked into.
 */
export function readMessage(raw: Buffer): ReadMessage {
  const { headers, body } = split(raw.toString('latin1'));
  const { type, parameters } = contentType(headers);
  const parts: Part[] = [];
  collect(headers, body, 0, parts);
  return { headers, type, reportType: parameters.get('report-type')?.toLowerCase() ?? null, parts };
}

/** Groups of fields with empty lines between them (RFC 3464, 2.1), each as a map; so many at most. */
export function fieldGroups(text: string, most: number): Fields[] {
  return text
    .split(/\r?\n[ \t]*\r?\n/, most)
    .map(fieldsOf)
    .filter((fields) => fields.size > 0);
}

function collect(headers: Fields, body: string, depth: number, parts: Part[]): void {
  if (parts.length >= PARTS_MAX) return;
  const { type, parameters } = contentType(headers);
  const boundary = parameters.get('boundary');
  if (!type.startsWith('multipart/') || boundary === undefined || depth >= DEPTH_MAX) {
    parts.push({ type, text: decoded(body, headers.get('content-transfer-encoding') ?? '') });
    return;
  }
  for (const piece of piecesOf(body, boundary)) {
    const part = split(piece);
    collect(part.headers, part.body, depth + 1, parts);
  }
}

function piecesOf(body: string, boundary: string): string[] {
  const pieces: string[] = [];
  let lines: string[] | null = null;
  for (const line of body.split(/\r?\n/)) {
    const border = line.startsWith('--') ? line.trimEnd() : '';
    const isEnd = border === `--${boundary}--`;
    if (!isEnd && border !== `--${boundary}`) {
      lines?.push(line);
      continue;
    }
    if (lines !== null) pieces.push(lines.join('\r\n'));
    lines = isEnd ? null : [];
    if (isEnd || pieces.length >= PARTS_MAX) break;
  }
  // Cut off: what there is of it counts.
  if (lines !== null && pieces.length < PARTS_MAX) pieces.push(lines.join('\r\n'));
  return pieces;
}

function split(text: string): { headers: Fields; body: string } {
  if (/^\r?\n/.test(text)) return { headers: new Map(), body: text.replace(/^\r?\n/, '') };
  const end = /\r?\n\r?\n/.exec(text);
  if (end === null) return { headers: fieldsOf(text), body: '' };
  return { headers: fieldsOf(text.slice(0, end.index)), body: text.slice(end.index + end[0].length) };
}

function fieldsOf(text: string): Fields {
  const lines: string[] = [];
  for (const line of text.split(/\r?\n/)) {
    if (/^[ \t]/.test(line) && lines.length > 0) lines[lines.length - 1] += ` ${line.trim()}`;
    else if (lines.length < HEADERS_MAX) lines.push(line);
    else break;
  }
  const fields = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(colon, 0)).trim().toLowerCase();
    if (name !== '' && !fields.has(name)) fields.set(name, line.slice(colon + 1).trim());
  }
  return fields;
}

function contentType(headers: Fields): { type: string; parameters: Map<string, string> } {
  const value = headers.get('content-type') ?? 'text/plain';
  const [type = '', ...rest] = value.slice(0, 2_000).split(';');
  const parameters = new Map<string, string>();
  for (const one of rest) {
    const equals = one.indexOf('=');
    if (equals < 1) continue;
    const name = one.slice(0, equals).trim().toLowerCase();
    const given = one.slice(equals + 1).trim();
    parameters.set(name, given.startsWith('"') ? given.replace(/^"|"$/g, '').replace(/\\(.)/g, '$1') : given);
  }
  return { type: type.trim().toLowerCase(), parameters };
}

function decoded(body: string, encoding: string): string {
  switch (encoding.trim().toLowerCase()) {
    case 'base64':
      return Buffer.from(body, 'base64').toString('utf8');
    case 'quoted-printable':
      return Buffer.from(unquoted(body), 'latin1').toString('utf8');
    default:
      return Buffer.from(body, 'latin1').toString('utf8');
  }
}

// RFC 2045, 6.7.
function unquoted(body: string): string {
  return body
    .replace(/=\r?\n/g, '')
    .replace(/=([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
