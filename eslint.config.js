import importX from 'eslint-plugin-import-x';
import tseslint from 'typescript-eslint';

// Who may import whom. What is not named may not: a room asks the ones below it, and nobody above.
const ROOMS = {
  concurrency: [],
  domain: [],
  db: ['concurrency', 'domain'],
  providers: ['concurrency', 'domain'],
  payments: ['domain'],
  workflows: ['domain', 'activities'],
  telemetry: ['concurrency', 'db', 'domain', 'workflows'],
  operations: ['concurrency', 'db', 'domain', 'payments', 'providers', 'telemetry', 'workflows'],
  pipeline: ['concurrency', 'db', 'domain', 'providers', 'telemetry', 'workflows'],
  activities: [
    ...['concurrency', 'documents', 'payments', 'pipeline', 'providers', 'db', 'domain'],
    ...['operations', 'telemetry'],
    ...['workflows'],
  ],
  // The words of the service's own e-mails.
  texts: ['domain'],
  // Typeset by a native library, which no process loads but those of activities.
  documents: ['domain', 'texts'],
  worker: [
    ...[
      'activities',
      'concurrency',
      'operations',
      'payments',
      'pipeline',
      'providers',
      'db',
      'domain',
      'telemetry',
      'texts',
    ],
    ...['workflows'],
  ],
  // What pages of any room are made of: the document around them, style sheets.
  pages: [],
  api: ['concurrency', 'db', 'domain', 'operations', 'pages', 'payments', 'telemetry'],
  // What staff may ask for, by command line and console.
  commands: ['db', 'domain', 'operations', 'providers'],
  // Pages for staff, of the same parts as those for customers.
  console: ['api', 'commands', 'db', 'domain', 'operations', 'pages', 'panel'],
  // The same endpoints, asked in another manner.
  mcp: ['api', 'domain', 'operations'],
  // Pages of the simulated network.
  simulator: ['api', 'db', 'domain', 'operations', 'pages', 'payments'],
  // Pages for customers: they ask the same endpoints for a person.
  panel: ['api', 'db', 'domain', 'operations', 'pages', 'telemetry'],
};
// Beside the product, and not in its image.
const NO_PRODUCT = ['tools', 'bench', 'test'];
ROOMS.bin = Object.keys(ROOMS);
// Not in the image either.
ROOMS.dev = Object.keys(ROOMS);
const ALL_ROOMS = [...Object.keys(ROOMS), ...NO_PRODUCT];
// An operation is asked through any door: it knows neither HTTP nor a command line.
const DOORS = '^(koa|@koa/|node:https?$|commander$)';
// What staff ask of routes follows from what each kind declares. Which kinds there are, only the registry knows.
const ONE_KIND = '^(\\.\\./)+providers/[^/]+/';
const TYPST = '^@myriaddreamin/';
const NO_IO = '^node:';
const NO_IO_BUT_TIMERS = '^node:(?!timers)';
const LARGE = '^(node:|zod$|postgres$)';
const CODE = '**/*.{ts,tsx}';
// Names of a browser's window, which the types of preact declare: here they are typing errors.
const OF_A_WINDOW = [
  ...['close', 'closed', 'document', 'event', 'external', 'find', 'focus', 'frames', 'history', 'length'],
  ...[
    'location',
    'name',
    'open',
    'opener',
    'origin',
    'parent',
    'print',
    'screen',
    'scroll',
    'self',
    'status',
  ],
  ...['stop', 'top', 'window'],
];
const NO_MARKUP = [
  {
    selector: "JSXAttribute[name.name='style']",
    message: 'The policy of pages blocks it: give the element a class.',
  },
  { selector: "JSXAttribute[name.name='dangerouslySetInnerHTML']", message: 'Text is escaped, always.' },
];

// The driver names the fields of rows, see `openDatabase`.
const CAMEL_CASE = 'Rows have names in camelCase; what a snapshot says is jsonb, as it was stored.';
const NAMES_IN_DB = [
  {
    selector:
      'TSInterfaceDeclaration:not([id.name=/Snapshot$/]) > TSInterfaceBody > TSPropertySignature[key.name=/_/], TSTypeLiteral > TSPropertySignature[key.name=/_/]',
    message: CAMEL_CASE,
  },
  {
    selector: 'TemplateElement[value.raw=/ as "[a-z]+[A-Z]/]',
    message: 'No column needs an alias in camelCase: the driver makes its name.',
  },
];
const NAMES_IN_DOMAIN = [
  {
    selector: 'TSInterfaceDeclaration[id.name=/Row$/] TSPropertySignature[key.name=/_/]',
    message: CAMEL_CASE,
  },
];

function arrowsOf(room) {
  const others = ALL_ROOMS.filter((other) => other !== room && !ROOMS[room].includes(other));
  const patterns = [
    {
      regex: `^(\\.\\./)+(${others.join('|')})/`,
      message: `${room}/ may import ${ROOMS[room].join(', ') || 'none of the other rooms'}.`,
    },
  ];
  if (room === 'operations') {
    patterns.push({ regex: DOORS, message: 'Operations know no door.' });
    patterns.push({ regex: ONE_KIND, message: 'Operations know provider kinds by their registry.' });
  }
  if (room !== 'documents') patterns.push({ regex: TYPST, message: 'documents/ typesets.' });
  if (room === 'domain') patterns.push({ regex: NO_IO, message: 'The domain knows no I/O.' });
  if (room === 'concurrency') patterns.push({ regex: NO_IO_BUT_TIMERS, message: 'Timers, and no I/O.' });
  if (room === 'workflows')
    patterns.push({ regex: LARGE, message: 'Workflow code stays deterministic and small.' });
  return { files: [`${room}/${CODE}`], rules: { 'no-restricted-imports': ['error', { patterns }] } };
}

export default tseslint.config(
  { ignores: ['node_modules/', 'build/', '.data/', 'coverage/'] },
  ...tseslint.configs.recommendedTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      eqeqeq: 'error',
      'no-restricted-globals': ['error', ...OF_A_WINDOW],
    },
  },
  {
    // Two files that need each other are one, or lack a third.
    files: [CODE],
    plugins: { 'import-x': importX },
    settings: {
      'import-x/parsers': { '@typescript-eslint/parser': ['.ts', '.tsx'] },
      'import-x/resolver-next': [importX.createNodeResolver({ extensions: ['.ts', '.tsx', '.js'] })],
    },
    rules: { 'import-x/no-cycle': ['error', { ignoreExternal: true }] },
  },
  { files: Object.keys(ROOMS).map((room) => `${room}/${CODE}`), rules: { 'max-lines': ['error', 400] } },
  { files: ['eslint.config.js', 'panel/**/*.js', 'console/**/*.js'], ...tseslint.configs.disableTypeChecked },
  // A browser runs it.
  { files: ['panel/**/*.js', 'console/**/*.js'], rules: { 'no-restricted-globals': 'off' } },
  ...Object.keys(ROOMS).map(arrowsOf),
  {
    // A workflow is replayed: whatever differs between two runs is forbidden in it.
    files: ['workflows/**/*.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector:
            'Program > VariableDeclaration[kind!="const"], Program > ExportNamedDeclaration > VariableDeclaration[kind!="const"], Program > VariableDeclaration > VariableDeclarator > NewExpression[callee.name=/^(Map|Set|WeakMap|WeakSet|Array)$/]',
          message: 'Modules are shared by all workflows in memory: they keep no state.',
        },
      ],
    },
  },
  { files: ['**/*.tsx'], rules: { 'no-restricted-syntax': ['error', ...NO_MARKUP] } },
  { files: ['db/**/*.ts'], rules: { 'no-restricted-syntax': ['error', ...NAMES_IN_DB] } },
  { files: ['domain/**/*.ts'], rules: { 'no-restricted-syntax': ['error', ...NAMES_IN_DOMAIN] } },
);
