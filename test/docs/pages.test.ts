import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { ALL_COMMANDS } from '../../commands/all.ts';
import { FINDING_KINDS } from '../../db/maintenance/findings.ts';
import { KINDS } from '../../operations/support/stuck.ts';

const read = (file: string): string => readFileSync(file, 'utf8');
const markdownIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name));
const PAGES = ['.', 'docs', 'ops/temporal', 'patches', 'test'].flatMap(markdownIn);
const DOCS = markdownIn('docs').map(read).join('\n');
const OPERATIONS = read('docs/operations.md');
const input = {
  description: z.string(),
  value: z.string().optional(),
  isRequired: z.boolean(),
  isSecret: z.boolean().optional(),
};
const inputs = z.record(z.string().regex(/^\w+$/), z.strictObject(input));

test('every page links to pages and headings that are there', () => {
  const broken = PAGES.flatMap((page) => {
    const text = read(page).replace(/^```[\s\S]*?^```/gm, '');
    const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, to = '']) => to);
    return links.filter((to) => !/^https?:/.test(to) && !leads(page, to)).map((to) => `${page}: ${to}`);
  });
  expect(PAGES).toContain('docs/runbooks.md');
  expect(broken).toEqual([]);
});

test('the documents have at most 12,000 words', () => {
  const words = ['README.md', 'CHANGELOG.md', ...markdownIn('docs')].flatMap((page) =>
    read(page).match(/\S+/g),
  );
  expect(words.length).toBeLessThanOrEqual(12_000);
});

test('every page names tests that are there', () => {
  const named = PAGES.flatMap((page) =>
    [...read(page).matchAll(/`(test\/[\w./-]+?)\/?`/g)].map(([, file = '']) => file),
  );
  expect(named).toContain('test/crash/steps.deep.test.ts');
  expect(named.filter((file) => !existsSync(file))).toEqual([]);
});

// As its $schema says, which has more that is not used here.
test('`server.json` is what registries take, of this release', () => {
  const registered = z.strictObject({
    $schema: z.literal('https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json'),
    name: z
      .string()
      .max(200)
      .regex(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/),
    title: z.string().min(1).max(100),
    description: z.string().min(1).max(100),
    version: z.literal((JSON.parse(read('package.json')) as { version: string }).version),
    remotes: z.array(
      z.strictObject({
        type: z.literal('streamable-http'),
        url: z.string().regex(/^https:\/\/\S+\/mcp$/),
        variables: inputs,
        headers: z.array(z.strictObject({ name: z.string(), ...input, variables: inputs })),
      }),
    ),
  });
  const server = registered.parse(JSON.parse(read('server.json')));
  for (const { url, variables, headers } of server.remotes) {
    expect(namedIn(url)).toEqual(Object.keys(variables));
    for (const { value, variables: own } of headers) expect(namedIn(value)).toEqual(Object.keys(own));
  }
});

const namedIn = (template = '') => [...template.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);

describe('what staff have to find', () => {
  test('every setting is in docs/operations.md', () => {
    const settings = [...read('.env.example').matchAll(/^#?([A-Z][A-Z_]+)=/gm)].map(([, name = '']) => name);
    expect(settings).toContain('DATABASE_POOL');
    expect(
      missing(
        settings.filter((name) => !name.startsWith('OTEL_')),
        OPERATIONS,
      ),
    ).toEqual([]);
  });

  test('every command is in docs/operations.md or docs/routes.md', () => {
    const found = OPERATIONS + read('docs/routes.md');
    const names = ALL_COMMANDS.map(({ name }) => name);
    expect(names).toContain('routes rules add');
    expect(names.filter((name) => !isNamed(name, found))).toEqual([]);
  });

  test('every kind of what is stuck, and of findings, is in docs/operations.md', () => {
    expect(missing([...KINDS, ...FINDING_KINDS], OPERATIONS)).toEqual([]);
  });

  test('every alert is in docs/observability.md, with its severity', () => {
    const alerts = [...read('ops/prometheus/alerts.yml').matchAll(/- alert: (\w+)[\s\S]*?severity: (\w+)/g)];
    const lines = alerts.map(([, name, severity]) => `- \`${name}\` (${severity}): `);
    expect(lines.length).toBeGreaterThan(20);
    expect(lines.filter((line) => !read('docs/observability.md').includes(line))).toEqual([]);
  });

  test('every metric of ours is in the documents', () => {
    const sources = ['bin', 'telemetry', 'pipeline', 'api', 'worker'].flatMap((folder) =>
      readdirSync(folder, { recursive: true })
        .map((name) => join(folder, String(name)))
        .filter((name) => /\.tsx?$/.test(name)),
    );
    const metrics = sources.flatMap((file) => read(file).match(/(?<=')goniec_[a-z_]+_[a-z]+(?=')/g) ?? []);
    expect(metrics).toContain('goniec_submit_duration_seconds');
    const ofRoutes = metrics.filter((name) => name.startsWith('goniec_route_'));
    const others = metrics.filter((name) => !ofRoutes.includes(name));
    expect(
      missing(
        others.filter((name) => !/^goniec_(?:api|worker|admin|owner|temporal)$/.test(name)),
        DOCS,
      ),
    ).toEqual([]);
  });

  test.each(['smpp', 'smsapi', 'resend', 'smtp'])(
    'every setting of a route of the kind %s is in docs/routes.md',
    (kind) => {
      const source = read(`providers/${kind}/settings.ts`);
      const declared = source.slice(
        source.indexOf(`export const ${kind}Settings`),
        source.indexOf('export type'),
      );
      const names = [...declared.matchAll(/^ {2,4}(\w+): /gm)].map(([, name = '']) => name);
      const settings = names.filter((name) => !['path', 'message'].includes(name));
      expect(settings.length).toBeGreaterThan(3);
      expect(missing(settings, read('docs/routes.md'))).toEqual([]);
    },
  );
});

/** Whether a relative link leads to a file, and to a heading of it where it names one. */
function leads(page: string, to: string): boolean {
  const [path = '', anchor] = to.split('#');
  const file = path === '' ? page : join(dirname(page), path);
  if (!existsSync(file)) return false;
  if (anchor === undefined) return true;
  const headings = [...read(file).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading);
  return headings.some((heading) => anchorOf(heading) === anchor);
}

/** As GitHub makes it. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

function missing(names: readonly string[], text: string): string[] {
  return names.filter((name) => !new RegExp(`\\b${name}\\b`).test(text));
}

/** `accounts create` stands there as it is, or as one of `accounts create|show`. */
function isNamed(command: string, text: string): boolean {
  const words = command.split(' ');
  const last = words.pop()!;
  return new RegExp(`\\b${[...words, ''].join(' ')}(?:[\\w-]+\\|)*${last}\\b`).test(text);
}
