import { Command, CommanderError, Option } from 'commander';
import type { Database } from '../../db/connection.ts';
import { Refused, StaffRefused } from '../../domain/refusals.ts';
import { typedName, type AnyCommand } from './command.ts';
import { ALL_COMMANDS } from './commands.ts';
import { execute } from './execute.ts';
import { asJson, asText } from './output.ts';
import { AdminError, invalidArgument } from './problems.ts';
import { inWords } from './refusals.ts';
import type { OpenTools } from './tools.ts';

/** Where a run of the command line reads and writes. */
export interface Surroundings {
  /** Who acts, as the audit log has it; asked only for a command that is well formed. */
  actor(): string | Promise<string>;
  /** Opens the service's database; called only for a command that is well formed. The run closes it. */
  openDatabase(): Promise<Database>;
  /** What else a command may need; each is opened when it is first asked for. The run closes them. */
  openTools(): OpenTools;
  out(text: string): void;
  err(text: string): void;
}

/**
 * Runs one line of the command line of staff.
 *
 * An answer goes to stdout, with `--json` (anywhere on the line) as exactly one JSON object. What cannot be done is one
 * sentence on stderr, with `--json` `{"error":{"code","message"}}`, and nothing on stdout; codes: invalid_argument,
 * not_found, refused, unavailable, internal_error.
 * @param line the words after the program's name
 * @returns the exit code: 0, or 1 for every error
 */
export async function runAdmin(line: readonly string[], around: Surroundings): Promise<number> {
  // Exact, because no option takes a value that begins with two hyphens.
  const json = line.includes('--json');
  try {
    let help = '';
    const program = buildProgram(async (command, values) => {
      const actor = await around.actor();
      const sql = await around.openDatabase();
      const tools = around.openTools();
      try {
        const { result, remark, columns } = await execute(sql, actor, command, values, tools);
        around.out(json ? asJson(result) : asText(result, remark, columns));
      } finally {
        await tools.close();
        await sql.end({ timeout: 5 });
      }
    });
    configureAll(program, (text) => (help += text));
    await parse(program, line);
    if (help !== '') around.out(json ? asJson({ help }) : help);
    return 0;
  } catch (error) {
    const problem = await describe(error);
    around.err(json ? asJson({ error: problem }) : `${problem.message}\n`);
    return 1;
  }
}

const GROUPS: Record<string, string> = {
  accounts: 'Accounts and their settings.',
  keys: 'API keys.',
  tokens: 'API tokens of the earlier interface.',
  emails: 'Single e-mails.',
  senders: 'Names and numbers that messages are sent from.',
  domains: 'Domains that e-mails are sent from.',
  numbers: 'Numbers that a test account may send to.',
  inbound: 'Replies from phones.',
  simulator: 'The simulated network.',
  routes: 'Ways to the providers: SMSCs and HTTP interfaces.',
  rules: 'What a route is used for.',
  messages: 'What became of messages, and those that need a decision.',
  webhooks: 'Webhook events, their delivery and signatures.',
  findings: 'What the reconciliation found.',
  statements: 'Monthly statements of postpaid accounts.',
  secrets: 'How stored secrets are encrypted.',
};

type Perform = (command: AnyCommand, values: Record<string, unknown>) => Promise<void>;

function buildProgram(perform: Perform): Command {
  const program = branch(new Command('admin'), 'The command line of goniec, for its staff.');
  for (const spec of ALL_COMMANDS) {
    const words = spec.name.split(' ');
    const parent = words.slice(0, -1).reduce(childOf, program);
    addLeaf(parent, words.at(-1) ?? spec.name, spec, perform);
  }
  return program;
}

function childOf(parent: Command, word: string): Command {
  const known = parent.commands.find((child) => child.name() === word);
  return known ?? branch(parent.command(word), GROUPS[word] ?? '');
}

function branch(command: Command, about: string): Command {
  return command
    .description(about)
    .addOption(jsonOption())
    .helpCommand(false)
    .argument('[command]')
    .allowExcessArguments()
    .usage('<command> [options]')
    .action((word: string | undefined) => {
      throw new AdminError(
        'invalid_argument',
        word === undefined
          ? `A command is missing: ${command.commands.map((child) => child.name()).join(', ')} (see --help).`
          : `There is no command ${word} here: ${command.commands.map((child) => child.name()).join(', ')} (see --help).`,
      );
    });
}

function addLeaf(parent: Command, word: string, spec: AnyCommand, perform: Perform): void {
  const leaf = parent
    .command(word)
    .description(spec.about)
    .addOption(jsonOption())
    // Said here because it is inherited from the branch, which takes any word so as to name it in its own refusal.
    .allowExcessArguments(false);
  const positional = spec.positional ?? [];
  for (const [name, argument] of Object.entries(spec.options)) {
    if (positional.includes(name)) continue;
    const typed = typedName(spec, name);
    if (argument.flag === true) {
      leaf.addOption(new Option(typed, argument.about).preset('yes'));
      continue;
    }
    const option = new Option(`${typed} <${argument.placeholder}>`, argument.about);
    leaf.addOption(
      option.argParser((text: string, previous: string | undefined) => once(typed, text, previous)),
    );
  }
  for (const name of positional) {
    const argument = spec.options[name];
    leaf.argument(`<${argument?.placeholder ?? name}>`, argument?.about);
  }
  leaf.action(async () => {
    const words = Object.fromEntries(positional.map((name, index) => [name, leaf.args[index]]));
    await perform(spec, parseValues(spec, { ...leaf.opts<Record<string, string | undefined>>(), ...words }));
  });
}

function jsonOption(): Option {
  return new Option('--json', 'print one JSON object and nothing else');
}

function once(option: string, text: string, previous: string | undefined): string {
  if (previous !== undefined) throw invalidArgument(option, 'is given twice');
  if (text.startsWith('--')) throw invalidArgument(option, `needs a value before ${text}`);
  return text;
}

function parseValues(spec: AnyCommand, typed: Record<string, string | undefined>): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [name, argument] of Object.entries(spec.options)) {
    const text = typed[name];
    if (text === undefined) {
      if (argument.required) throw invalidArgument(typedName(spec, name), `is missing (${spec.name})`);
      continue;
    }
    const parsed = argument.schema.safeParse(text);
    if (!parsed.success) {
      throw invalidArgument(typedName(spec, name), parsed.error.issues[0]?.message ?? 'is not valid');
    }
    values[name] = parsed.data;
  }
  return values;
}

function configureAll(command: Command, write: (text: string) => void): void {
  // Help typed by the user is an answer; what commander has to say about errors is said by us.
  command.exitOverride().configureOutput({ writeOut: write, writeErr: () => undefined });
  for (const child of command.commands) configureAll(child, write);
}

async function parse(program: Command, line: readonly string[]): Promise<void> {
  try {
    await program.parseAsync([...line], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.code === 'commander.helpDisplayed') return;
    throw new AdminError('invalid_argument', error.message.replace(/^error: /, '').replace(/\s*\n\s*/g, ' '));
  }
}

async function describe(error: unknown): Promise<{ code: string; message: string }> {
  const known = error instanceof Refused || error instanceof StaffRefused ? inWords(error) : error;
  if (known instanceof AdminError) return { code: known.code, message: known.message };
  const { describeFailure } = await import('./failures.ts');
  return describeFailure(error);
}
