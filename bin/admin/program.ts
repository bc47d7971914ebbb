import { Command, CommanderError, Option } from 'commander';
import type { Database } from '../../db/connection.ts';
import { ALL_COMMANDS } from '../../commands/all.ts';
import { type AnyCommand, type Argument, execute, FLAG_VALUE } from '../../commands/command.ts';
import { AdminError, describeError, invalidArgument } from '../../commands/errors.ts';
import { asJson, asText, named, printable } from '../../commands/output.ts';
import { ConfigError } from '../config.ts';
import { StartProblem } from '../problem.ts';
import type { OpenTools } from './tools.ts';

const JSON_ABOUT = 'print one JSON object and nothing else';
const GROUPS: Readonly<Record<string, string>> = {
  accounts: 'Accounts and their settings.',
  keys: 'API keys.',
  tokens: 'API tokens of the earlier interface.',
  emails: 'Single e-mails.',
  senders: 'Names and numbers that messages are sent from.',
  domains: 'Domains that e-mails are sent from.',
  numbers: 'Numbers that a test account may send to.',
  people: 'Those who sign in to the panel.',
  inbound: 'Replies from phones.',
  simulator: 'The simulated network.',
  routes: 'Ways to the providers: SMSCs and HTTP interfaces.',
  rules: 'What a route is used for.',
  messages: 'What became of messages, and those that need a decision.',
  bulks: 'Actions on many things, carried out by workers.',
  webhooks: 'Webhook events, their delivery and signatures.',
  findings: 'What the reconciliation found.',
  invoices: 'Documents for accounting, which issues the invoices: this service issues none.',
  statements: 'Monthly statements of postpaid accounts.',
  secrets: 'How stored secrets are encrypted.',
};

interface Environment {
  /** For the audit log; called only for a well-formed command. */
  actor(): string | Promise<string>;
  /** Called only for a well-formed command; the run closes it. */
  openDatabase(): Promise<Database>;
  /** Closed by the run. */
  openTools(): OpenTools;
  out(text: string): void;
  err(text: string): void;
}

/**
 * Runs one command line of staff. Output goes to stdout, with `--json` (anywhere on the line) as exactly one JSON object. An error is one
 * sentence on stderr, with `--json` `{"error":{"code","message"}}`; codes: invalid_argument, not_found, refused, unavailable,
 * internal_error.
 * @param line the words after the program's name
 * @returns the exit code: 0, or 1 for every error
 */
export async function runAdmin(line: readonly string[], around: Environment): Promise<number> {
  // Exact, because no option takes a value that begins with two hyphens.
  const json = line.includes('--json');
  try {
    const typed = readLine(line.filter((word) => word !== '--json'));
    if ('help' in typed) around.out(json ? asJson(typed) : typed.help);
    else around.out(await carryOut(typed, around, json));
    return 0;
  } catch (error) {
    const problem = isOfProcess(error)
      ? { code: 'unavailable', message: printable(error.message) }
      : describeError(error);
    around.err(json ? asJson({ error: problem }) : `${problem.message}\n`);
    return 1;
  }
}

/** What keeps a process of the service from starting. */
function isOfProcess(error: unknown): error is Error {
  return error instanceof ConfigError || error instanceof StartProblem;
}

async function carryOut({ command, values }: Typed, around: Environment, json: boolean): Promise<string> {
  const actor = await around.actor();
  const sql = await around.openDatabase();
  const tools = around.openTools();
  try {
    const { result, remarks = [], columns } = await execute(sql, actor, command, values, tools);
    const sentences = remarks.filter((remark) => remark !== null);
    return json ? asJson(named(result)) : asText(named(result), sentences, columns);
  } finally {
    await tools.close();
    await sql.end({ timeout: 5 });
  }
}

interface Typed {
  command: AnyCommand;
  values: Record<string, unknown>;
}

function readLine(words: readonly string[]): Typed | { help: string } {
  let help = '';
  let typed: Typed | undefined;
  const program = new Command('admin')
    .description('The command line of goniec, for its staff.')
    .usage('<command> [options]')
    .option('--json', JSON_ABOUT)
    .helpCommand(false)
    .exitOverride()
    // Help is output; commander's own error messages are replaced.
    .configureOutput({ writeOut: (text) => (help += text), writeErr: () => undefined });
  for (const command of ALL_COMMANDS) addCommand(program, command, (values) => (typed = { command, values }));
  try {
    program.parse([...words], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode !== 0) throw new AdminError('invalid_argument', sentenceOf(error));
  }
  return typed ?? { help };
}

function sentenceOf({ code, message }: CommanderError): string {
  if (code === 'commander.help') return 'A command is missing (see --help).';
  return message.replace(/^error: /, '').replace(/\s*\n\s*/g, ' ');
}

function addCommand(
  program: Command,
  spec: AnyCommand,
  chosen: (values: Record<string, unknown>) => void,
): void {
  const groups = spec.name.split(' ');
  const word = groups.pop()!;
  const typed: Record<string, unknown> = {};
  const leaf = groups
    .reduce(groupOf, program)
    .command(word)
    .description(spec.about)
    .option('--json', JSON_ABOUT)
    .action(() => chosen(complete(spec, typed)));
  for (const [name, argument] of Object.entries(spec.options)) {
    const { flags, about } = argument;
    const read = (text: string): unknown => (typed[name] = readValue(argument, text, name in typed));
    if (flags.startsWith('--'))
      leaf.addOption(new Option(flags, about).default(argument.default).preset(FLAG_VALUE).argParser(read));
    else leaf.argument(flags, about, read);
  }
}

function groupOf(parent: Command, word: string): Command {
  const known = parent.commands.find((child) => child.name() === word);
  if (known !== undefined) return known;
  const group = parent.command(word).description(GROUPS[word] ?? '');
  return group.usage('<command> [options]').helpCommand(false);
}

function readValue({ flags, schema }: Argument<unknown>, text: string, again: boolean): unknown {
  const name = typedName(flags);
  if (again) throw invalidArgument(name, 'is given twice');
  if (text.startsWith('--')) throw invalidArgument(name, `needs a value before ${text}`);
  const read = schema.safeParse(text);
  if (read.success) return read.data;
  throw invalidArgument(name, read.error.issues[0]?.message ?? 'is not valid');
}

// Not left to commander, which reports a missing option before a misspelt one.
function complete(spec: AnyCommand, typed: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const values = { ...typed };
  for (const [name, argument] of Object.entries(spec.options)) {
    if (name in typed) continue;
    if ('default' in argument) values[name] = argument.default;
    else if (argument.always) throw invalidArgument(typedName(argument.flags), `is missing (${spec.name})`);
  }
  return values;
}

// `--price <GROSZE>` → `--price`, `<KEY_ID>` → `KEY_ID`.
function typedName(flags: string): string {
  return flags.startsWith('--') ? flags.replace(/ .*/, '') : flags.slice(1, -1);
}
