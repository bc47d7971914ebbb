import { once } from 'node:events';
import { createRequire } from 'node:module';
import type { Provider } from '../providers/provider.ts';
import { createSmppProvider } from '../providers/smpp/provider.ts';
import { smppSettings } from '../providers/smpp/settings.ts';
import type { SubmitPart } from '../domain/submission.ts';
import { until } from './until.ts';

/** One of the clients under comparison, bound by one session. */
export interface SubmitClient {
  submit(): Promise<void>;
  close(): Promise<void>;
}

const TEXT = 'Twoja paczka czeka w punkcie odbioru.';
const PHONE = '+48500100200';
const SENDER = 'SKLEP';

/** Our provider, alone: no database and no Temporal. */
export async function openProvider(port: number, window: number): Promise<SubmitClient> {
  const provider: Provider = createSmppProvider({
    name: 'bench',
    settings: smppSettings.parse({ host: '127.0.0.1', port, window }),
    credentials: { systemId: 'bench', password: 'bench' },
    onError: (error) => console.error(error),
  });
  const nothing = () => Promise.resolve();
  await provider.start({
    onReports: nothing,
    onReplies: nothing,
    onReplyPart: nothing,
    onLateAnswer: nothing,
    onEmailEvents: nothing,
  });
  await until('the provider is bound', () => provider.state().sessions === 1);
  const part: SubmitPart = {
    ...{ reference: 'msg_bench/1', destination: PHONE, sender: SENDER, encoding: 'gsm7', text: TEXT },
    ...{ part: 1, parts: 1, concatReference: 1, priority: false, channel: 'sms', content: null },
    expiresAt: new Date(Date.now() + 3_600_000),
  };
  const leave = () => Promise.resolve(true);
  return {
    async submit() {
      const answer = await provider.submit(part, leave);
      if (answer.kind !== 'accepted') throw new Error(`not accepted but ${answer.kind}`);
    },
    close: () => provider.stop(),
  };
}

/** What is used of the package's session. */
interface BareSession extends NodeJS.EventEmitter {
  bind_transceiver(fields: object, answered: (pdu: { command_status: number }) => void): boolean;
  submit_sm(fields: object, answered: (pdu: { command_status: number }) => void): boolean;
  close(): void;
}

/** The bare package `smpp`, given bytes and every field that the provider sends. */
export async function openBare(port: number): Promise<SubmitClient> {
  const smpp = createRequire(import.meta.url)('smpp') as {
    connect(options: { host: string; port: number }): BareSession;
  };
  const session = smpp.connect({ host: '127.0.0.1', port });
  await once(session, 'connect');
  const asked = (ask: (answered: (pdu: { command_status: number }) => void) => boolean): Promise<void> =>
    new Promise((resolve, reject) => {
      const sent = ask((pdu) => {
        if (pdu.command_status === 0) resolve();
        else reject(new Error(`refused: ${pdu.command_status}`));
      });
      if (!sent) reject(new Error('not sent'));
    });
  await asked((answered) => session.bind_transceiver({ system_id: 'bench', password: 'bench' }, answered));
  const fields = {
    ...{ source_addr_ton: 5, source_addr: SENDER, dest_addr_ton: 1, dest_addr_npi: 1 },
    ...{ destination_addr: PHONE.slice(1), validity_period: '261124120000000+', registered_delivery: 1 },
    ...{ data_coding: 0, short_message: Buffer.from(TEXT, 'latin1') },
  };
  return {
    submit: () => asked((answered) => session.submit_sm(fields, answered)),
    async close() {
      const closed = once(session, 'close');
      session.close();
      await closed;
    },
  };
}
