import { Command, CommanderError, Option } from 'commander';
import type { Database } from '../../db/connection.ts';
import { ALL_COMMANDS } from '../../commands/all.ts';
import { type AnyCommand, execute, FLAG_VALUE, readArguments, typedName } from '../../commands/command.ts';
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
  staff: 'Those who use the console.',
  inbound: 'Replies from phones.',
  simulator: 'The simulated network.',
  routes: 'Ways to the providers: SMSCs and HTTP interfaces.',
  rules: 'What a route is used for.',
  messages: 'What became of messages, and those that need a decision.',
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
    const {
      result,
      remarks = [],
      columns,
    } = await execute(sql, { actor: { kind: 'staff', name: actor } }, command, values, tools);
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
  const typed: Record<string, string> = {};
  const leaf = groups
    .reduce(groupOf, program)
    .command(word)
    .description(spec.about)
    .option('--json', JSON_ABOUT)
    .action(() => chosen(readArguments(spec, typed)));
  for (const [name, argument] of Object.entries(spec.options)) {
    const { flags, about } = argument;
    const read = (text: string): string => {
      if (name in typed) throw invalidArgument(typedName(argument), 'is given twice');
      if (text.startsWith('--')) throw invalidArgument(typedName(argument), `needs a value before ${text}`);
      return (typed[name] = text);
    };
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
