import {
  type GetPromptResult,
  type Prompt,
  ProtocolError,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server';

interface Written extends Prompt {
  description: string;
  arguments: { name: string; description: string; required: boolean }[];
  text: (given: Readonly<Record<string, string>>) => string;
}

const AGREED = 'Send only after I have agreed to recipients and cost.';

/** Ways to begin that a client offers its user. */
const prompts: readonly Written[] = [
  {
    name: 'campaign',
    title: 'Send a campaign',
    description: 'Writes a text for a contact group, shows what it costs, and sends it once agreed.',
    arguments: [
      { name: 'group', description: 'Name or id of the contact group.', required: true },
      { name: 'about', description: 'What to say.', required: true },
    ],
    text: ({ group, about }) =>
      `Prepare an SMS campaign to the contact group ${quoted(group)} about: ${quoted(about)}. Write the text in Polish, short, with {{imie}} where it fits and {{opt_out}} at the end. Check its parts with count_sms_parts, see the cost with send_sms and dry_run, and show me both. ${AGREED}`,
  },
  {
    name: 'reminder',
    title: 'Remind somebody of an appointment',
    description: 'Schedules a reminder for a number.',
    arguments: [
      { name: 'to', description: 'The number.', required: true },
      { name: 'appointment', description: 'What, and when.', required: true },
    ],
    text: ({ to, appointment }) =>
      `Schedule an SMS reminder to ${quoted(to)} of: ${quoted(appointment)}. Choose a send time a day before, within 08:00-20:00 Polish time, and show me text, send time and cost with send_sms and dry_run. ${AGREED}`,
  },
  {
    name: 'why_failed',
    title: 'Why did this message fail?',
    description: 'Explains what became of a message.',
    arguments: [{ name: 'message_id', description: 'The id, msg_….', required: true }],
    text: ({ message_id }) =>
      `Find out with get_message what became of ${quoted(message_id)}, and explain its status and error to me in plain words: whether it was delivered, what it cost, and what I can do. Send nothing.`,
  },
];

// What is written as JSON cannot leave its quotes.
const quoted = (value: string | undefined): string => JSON.stringify(value ?? '');
const ARGUMENT_MAX = 2_000;

/** The prompts as they are listed. */
export const listedPrompts: Prompt[] = prompts.map(({ text: _text, ...shown }) => shown);

/** A prompt with its arguments filled in. @throws ProtocolError for an unknown one, and for a missing or endless argument */
export function promptOf(name: string, given: Readonly<Record<string, string>> = {}): GetPromptResult {
  const prompt = prompts.find((known) => known.name === name);
  if (prompt === undefined) throw invalid(`Unknown prompt: ${name.slice(0, 64)}`);
  for (const argument of prompt.arguments) {
    const value = given[argument.name];
    if (value === undefined || value === '' || value.length > ARGUMENT_MAX) {
      throw invalid(`Argument ${argument.name}: 1 to ${ARGUMENT_MAX} characters`);
    }
  }
  const content = { type: 'text' as const, text: prompt.text(given) };
  return { description: prompt.description, messages: [{ role: 'user', content }] };
}

const invalid = (message: string) => new ProtocolError(ProtocolErrorCode.InvalidParams, message);
