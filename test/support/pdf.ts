import { getDocument } from 'pdfjs-dist/legacy/build/pdf.mjs';

interface Node {
  role?: string;
  children?: Node[];
}

/** A PDF as pdf.js reads it. */
export interface ReadPdf {
  pages: number;
  /** In the order of the content, which is what readers hear; blanks are single. */
  text: string;
  /** Roles of the structure, in order. */
  roles: string[];
  title: string;
  marked: boolean;
}

export async function readPdf(bytes: Buffer): Promise<ReadPdf> {
  const document = await getDocument({ data: new Uint8Array(bytes), verbosity: 0 }).promise;
  const [texts, roles]: [string[], string[]] = [[], []];
  for (let number = 1; number <= document.numPages; number += 1) {
    const page = await document.getPage(number);
    const { items } = await page.getTextContent();
    texts.push(items.map((item) => ('str' in item ? item.str + (item.hasEOL ? ' ' : '') : '')).join(' '));
    const tree = (await page.getStructTree()) as Node | null;
    if (tree !== null) roles.push(...rolesOf(tree));
  }
  const { info } = (await document.getMetadata()) as { info: { Title?: string } };
  const marks = await document.getMarkInfo();
  const text = texts.join(' ').replace(/\s+/g, ' ');
  const found = {
    pages: document.numPages,
    text,
    roles,
    title: info.Title ?? '',
    marked: marks?.Marked === true,
  };
  await document.destroy();
  return found;
}

function rolesOf({ role, children = [] }: Node): string[] {
  return [...(role === undefined ? [] : [role]), ...children.flatMap(rolesOf)];
}
