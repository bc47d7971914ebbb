import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import packageJson from '../../package.json' with { type: 'json' };
import { transaction } from '../../db/connection.ts';
import { newId } from '../../db/ids.ts';
import { insertBulk } from '../../db/maintenance/bulks.ts';
import { linkTokens } from '../support/madeLinks.ts';
import {
  cancelSignal,
  cancelUpdate,
  giveUpUpdate,
  MESSAGES_QUEUE,
  resubmitUpdate,
  resumeSignal,
} from '../../workflows/contracts.ts';
import { requestResend } from '../../db/webhooks/webhookDeliveries.ts';
import { notifyStart } from '../../workflows/startOptions.ts';
import { deliveryId } from '../../db/webhooks/webhooks.ts';
import { deliveryReportsOf, reportDelivered } from '../workflows/deliveryReports.ts';
import { type EmailWish, mailAccount, notifiedOf, reportEmail, sendEmailOf } from '../workflows/emails.ts';
import { holdSubmits } from '../workflows/heldSubmits.ts';
import { lookUp, acceptedLookup } from '../workflows/lookups.ts';
import { submitsOf } from '../workflows/markers.ts';
import { HOUR, type Pipeline, startPipeline } from '../workflows/pipeline.ts';
import { receiveReplies, startReply } from '../workflows/replies.ts';
import { recordTopUp } from './topUps.ts';
import { startServers } from '../support/startServers.ts';
import { clickOn } from '../support/clicked.ts';
import { until } from '../support/eventually.ts';
import { startHttpReceiver } from '../support/httpReceiver.ts';

/**
 * Records the histories that later versions of the workflows must still replay, into `histories/<version>/`. Run it
 * before a release (`npm run record-histories`, or `… -- notify` for the names that begin so); what was recorded once is
 * never recorded again.
 */
const FOLDER = new URL(`./histories/${packageJson.version}/`, import.meta.url);
const [prefix = ''] = process.argv.slice(2);

const receiver = await startHttpReceiver((response, _, { url }) =>
  response.writeHead(url === '/refuse' ? 500 : 200).end(),
);
const address = receiver.url;

const { stop: stopServers, ...servers } = await startServers();
const pipeline = await startPipeline('real', {}, undefined, servers);
try {
  await mkdir(FOLDER, { recursive: true });
  const recorded = await readdir(FOLDER);
  for (const [name, run] of Object.entries(scenarios(pipeline))) {
    if (!name.startsWith(prefix) || recorded.includes(`${name}.json`)) continue;
    await save(name, await run());
    console.log(`recorded ${name}`);
  }
} finally {
  await pipeline.close();
  await stopServers();
  await receiver.close();
}

/** Each makes one workflow and returns its id once the history holds what the name says. */
function scenarios(at: Pipeline): Record<string, () => Promise<string>> {
  const sendFrom = async (account: string, options: object = {}): Promise<string> =>
    (await at.send(account, options)).id;
  const send = async (options: object, account: object = {}): Promise<string> =>
    sendFrom(await at.account(account), options);
  const sendUntil = (status: string, options: object, account?: object) => async () => {
    const id = await send(options, account);
    await at.untilStatus(id, status);
    return await settled(id);
  };
  const scheduled = () => send({ sendAt: Date.now() + 80 * 24 * HOUR });
  const answers = (id: string, submits: number) =>
    until(`${id} is unanswered`, async () => {
      const history = await at.client.workflow.getHandle(id).fetchHistory();
      return submitsOf(history) === submits && Boolean(history.events!.at(-1)?.timerStartedEventAttributes);
    });
  const unanswered = async () => {
    const id = await send({ ending: '905' });
    await answers(id, 1);
    return id;
  };
  const handle = (id: string) => at.client.workflow.getHandle(id);
  // Its receiver was quick until its report came.
  const reportedLater = async (then: string) => {
    const account = await at.account({ webhookUrl: `${address}/take` });
    await settled(await sendFrom(account));
    const id = await sendFrom(account, { ending: '903' });
    await until(`${id} is told as sent`, async () => {
      const told = await at.sql`select from webhook_events where subject_id = ${id} and state = 'delivered'`;
      return told.length === 1;
    });
    await at.sql`update accounts set webhook_url = ${address + then} where id = ${account}`;
    await reportDelivered(at.sql, id);
    return await settled(id);
  };
  const clicked = async (webhook: string) => {
    const account = await at.account({ webhookUrl: address + webhook });
    const wanted = [{ recipient: '+48500100200', url: 'https://example.com/' }];
    const [token] = (await linkTokens(at.sql, account, wanted)).values();
    await clickOn(at.sql, token!);
    const [event] = await at.sql<
      { id: string }[]
    >`select id from webhook_events where subject_id = ${token!}`;
    await at.client.workflow.start('notify', notifyStart({ id: event!.id, accountId: account }));
    return await settled(event!.id);
  };

  const lookedUp = async (ending: string, route = 'simulator') => {
    const account = await at.account({ balance: 100 });
    const id = await acceptedLookup(at, account, ending);
    await lookUp(at, account, id, route);
    return await settled(id);
  };

  // A message that failed has one event, which its workflow has told of when it closes.
  const toldAgain = async (webhook: string, then: string) => {
    const account = await at.account({ webhookUrl: address + webhook });
    const id = await settled(await sendFrom(account, { ending: '902' }));
    await at.sql`update accounts set webhook_url = ${address + then} where id = ${account}`;
    const [event] = await at.sql<{ id: string }[]>`select id from webhook_events where subject_id = ${id}`;
    const again = await requestResend(at.sql, event!.id, null, 'staff');
    if (typeof again === 'string') throw new Error(again);
    const workflowId = deliveryId(event!.id, again.round);
    await started(workflowId);
    return await settled(workflowId);
  };

  const replied = async (webhook?: string) => {
    const account = await at.account(webhook === undefined ? {} : { webhookUrl: address + webhook });
    const keyword = account.slice(-8).toUpperCase();
    await receiveReplies(at, account, keyword);
    return await settled(await startReply(at, '+48500100200', `${keyword} stop`));
  };
  /** By the worker, which finds it reserved. */
  const started = (id: string) =>
    until(`${id} is started`, () =>
      handle(id)
        .describe()
        .then(
          () => true,
          () => false,
        ),
    );
  const settled = async (id: string) => {
    await at.untilClosed(id);
    return id;
  };

  const resubmittedThenGivenUp = async () => {
    const id = await unanswered();
    await handle(id).executeUpdate(resubmitUpdate);
    await answers(id, 2);
    await handle(id).executeUpdate(giveUpUpdate);
    return await settled(id);
  };
  // A route and a receiver get work within workflow tasks once they were quick, as with the one before of the same account.
  const afterAnother = (run: (account: string) => Promise<string>, webhook?: string) => async () => {
    const account = await at.account(webhook === undefined ? {} : { webhookUrl: address + webhook });
    await settled(await sendFrom(account));
    return await settled(await run(account));
  };

  const paused = async (options: object = {}): Promise<{ account: string; id: string }> => {
    const account = await at.account();
    await settled(await sendFrom(account));
    await at.setStatus(account, 'suspended');
    const id = await sendFrom(account, options);
    await until(`${id} is paused`, async () => {
      const { events } = await handle(id).fetchHistory();
      const waits = await at.sql`select from paused_messages where message_id = ${id}`;
      return waits.count === 1 && Boolean(events!.at(-1)?.timerStartedEventAttributes);
    });
    return { account, id };
  };
  const pausedUntil = (status: string, options: () => object) => async () => {
    const { account, id } = await paused(options());
    await at.setStatus(account, status);
    return await settled(id);
  };

  const emailed = async (wish: EmailWish, webhook?: string) => {
    const account = await mailAccount(at, webhook === undefined ? {} : { webhookUrl: address + webhook });
    return await settled(await sendEmailOf(at, account, { giveUpAt: Date.now() + 12_000, ...wish }));
  };

  const reportedWhileHandedOver = async (wish: EmailWish) => {
    const account = await mailAccount(at, { webhookUrl: `${address}/take` });
    const id = await sendEmailOf(at, account, { giveUpAt: Date.now() + 12_000, ...wish });
    await reportEmail(at, id, { kind: 'delivered' }, wish.route);
    await until(`${id} is told of`, async () => (await notifiedOf(at, id))[0]?.state === 'delivered');
    await reportEmail(at, id, { kind: 'opened' }, wish.route);
    return await settled(id);
  };

  const regular = async (workflow: string) => {
    const workflowId = newId('req');
    await at.client.workflow.execute(workflow, { workflowId, taskQueue: MESSAGES_QUEUE });
    return workflowId;
  };

  return {
    'message-delivered': sendUntil('delivered', {}),
    'message-delivered-with-webhooks': sendUntil('delivered', {}, { webhookUrl: `${address}/take` }),
    'message-delivered-webhooks-refused': sendUntil('delivered', {}, { webhookUrl: `${address}/refuse` }),
    'message-undelivered': sendUntil('undelivered', { ending: '901' }),
    'message-refused-by-route': sendUntil('failed', { ending: '902' }, { webhookUrl: `${address}/take` }),
    'message-throttled': sendUntil('delivered', { ending: '904' }),
    'message-reported-early': sendUntil('delivered', { ending: '907' }),
    'message-expired': () => sendUntil('expired', { ending: '903', giveUpAt: Date.now() + 2_000 })(),
    'message-unanswered-expired': () =>
      sendUntil('expired', { ending: '905', giveUpAt: Date.now() + 6_000 })(),
    'message-sent-at-its-time': async () => settled(await send({ sendAt: Date.now() + 2_000 })),
    'message-opted-out': async () => {
      const id = await send({ sendAt: Date.now() + 2_000 });
      await at.sql`insert into blacklist (account_id, msisdn) select account_id, recipient from messages where id = ${id}`;
      return await settled(id);
    },
    'message-sleeping': scheduled,
    'message-cancelled': async () => {
      const id = await scheduled();
      await handle(id).executeUpdate(cancelUpdate);
      return await settled(id);
    },
    'message-cancelled-by-signal': async () => {
      const id = await scheduled();
      await handle(id).signal(cancelSignal);
      return await settled(id);
    },
    'message-cancelled-in-temporal': async () => {
      const id = await scheduled();
      await handle(id).cancel();
      return await settled(id);
    },
    'message-moved-to-another-route': async () => {
      const account = await at.account();
      await at.sql`
        insert into routes (name, kind) values ('gone', 'smpp'), ('reserve', 'simulator') on conflict do nothing`;
      await at.sql`insert into route_rules (route, account_id) values ('gone', ${account}), ('reserve', ${account})`;
      return await settled(await sendFrom(account, { route: 'gone' }));
    },
    'message-rerouted-at-its-time': async () => {
      const account = await at.account();
      await at.sql`insert into routes (name, kind) values ('own', 'simulator') on conflict do nothing`;
      await at.sql`insert into route_rules (route, account_id) values ('own', ${account})`;
      return await settled(await sendFrom(account, { sendAt: Date.now() + 2_000 }));
    },
    'message-resubmitted-then-given-up': resubmittedThenGivenUp,
    'message-answered-late': async () => {
      const id = await unanswered();
      const deliveryReports = deliveryReportsOf(at);
      await deliveryReports.receiveLateAnswer(
        'simulator',
        `${id}/1`,
        { kind: 'later', retryAfterMs: 1_000, code: 'ESME_RSYSERR' },
        performance.now(),
      );
      await answers(id, 2);
      await deliveryReports.receiveLateAnswer(
        'simulator',
        `${id}/1`,
        { kind: 'accepted', providerMessageId: `late-${id}` },
        performance.now(),
      );
      const report = { reference: null, state: 'delivered', errorCode: null } as const;
      await deliveryReports.receive('simulator', [{ ...report, providerMessageId: `late-${id}` }]);
      return await settled(id);
    },
    'message-at-once': afterAnother((account) => sendFrom(account)),
    'message-told-at-once': afterAnother((account) => sendFrom(account), '/take'),
    'message-told-at-once-refused': async () => {
      const account = await at.account({ webhookUrl: `${address}/take` });
      await settled(await sendFrom(account));
      await at.sql`update accounts set webhook_url = ${`${address}/refuse`} where id = ${account}`;
      return await settled(await sendFrom(account));
    },
    'message-at-once-refused': afterAnother((account) => sendFrom(account, { ending: '902' })),
    'message-at-once-throttled': afterAnother((account) => sendFrom(account, { ending: '904' })),
    // It takes longer than a workflow task may, which is split in two so.
    'message-at-once-slowly': afterAnother(async (account) => {
      const letGo = await holdSubmits(at.sql);
      const id = await sendFrom(account);
      await until(`${id} is split`, async () => {
        const { events } = await handle(id).fetchHistory();
        return events!.filter((event) => event.workflowTaskScheduledEventAttributes).length > 1;
      });
      await letGo();
      return id;
    }),
    'message-heard-by-update': async () => await reportedLater('/take'),
    'message-heard-by-update-refused': async () => await reportedLater('/refuse'),
    'message-paused-then-sent': pausedUntil('active', () => ({})),
    'message-paused-at-its-time-then-sent': pausedUntil('active', () => ({ sendAt: Date.now() + 2_000 })),
    'message-paused-then-closed': pausedUntil('closed', () => ({})),
    'message-paused-at-its-time-then-closed': pausedUntil('closed', () => ({ sendAt: Date.now() + 2_000 })),
    'message-paused-then-expired': async () => {
      const { id } = await paused({ giveUpAt: Date.now() + 6_000 });
      return await settled(id);
    },
    'message-paused-again': async () => {
      const { account, id } = await paused({ sendAt: Date.now() + 2_000 });
      await at.setStatus(account, 'active');
      await at.setStatus(account, 'suspended');
      await handle(id).signal(resumeSignal);
      await until(`${id} has asked again`, async () => {
        const { events } = await handle(id).fetchHistory();
        return (
          events!.filter((event) => event.timerStartedEventAttributes).length === 3 &&
          Boolean(events!.at(-1)?.timerStartedEventAttributes)
        );
      });
      await at.setStatus(account, 'active');
      return await settled(id);
    },
    'message-closed-while-asleep': async () => {
      const account = await at.account();
      const id = await sendFrom(account, { sendAt: Date.now() + 80 * 24 * HOUR });
      await at.setStatus(account, 'closed');
      return await settled(id);
    },
    'message-sent-by-a-closed-account': async () => {
      const account = await at.account();
      await at.setStatus(account, 'closed');
      return await settled(await sendFrom(account));
    },
    'message-shown-as-sent': async () => {
      const id = await send({ ending: '903' });
      await until(`${id} is shown as sent`, async () => {
        const { events } = await handle(id).fetchHistory();
        return events!.filter((event) => event.timerStartedEventAttributes).length === 2;
      });
      return id;
    },
    'notify-taken': () => clicked('/take'),
    'notify-refused': () => clicked('/refuse'),
    'lookup-found': () => lookedUp('000'),
    'lookup-slow': () => lookedUp('917'),
    'lookup-failed': () => lookedUp('915'),
    'lookup-timed-out': () => lookedUp('916'),
    'lookup-route-away': () => lookedUp('000', 'nobody'),
    'inbound-matched': () => replied(),
    'inbound-matched-with-webhook': () => replied('/take'),
    'inbound-matched-webhook-refused': () => replied('/refuse'),
    'email-delivered': () => emailed({}),
    'email-delivered-with-webhooks': () => emailed({}, '/take'),
    'email-delivered-webhooks-refused': () => emailed({}, '/refuse'),
    'email-refused-by-provider': () => emailed({ to: ['refused@klient.example'] }, '/take'),
    'email-throttled': () => emailed({ to: ['throttled@klient.example'] }),
    // Once of a provider that is asked again, and once of one that is never asked.
    'email-reported-while-handed-over': () => reportedWhileHandedOver({ to: ['unanswered@klient.example'] }),
    'email-reported-while-expiring': () => reportedWhileHandedOver({ route: 'nobody' }),
    'email-expired': () => emailed({ route: 'nobody' }),
    'email-sleeping': async () => {
      const id = await sendEmailOf(at, await mailAccount(at));
      await until(`${id} waits for events`, async () =>
        Boolean((await handle(id).fetchHistory()).events!.at(-1)?.timerStartedEventAttributes),
      );
      return id;
    },
    'email-late': async () => {
      const account = await mailAccount(at, { webhookUrl: `${address}/take` });
      const id = await settled(await sendEmailOf(at, account, { giveUpAt: Date.now() + 6_000 }));
      const first = (await handle(id).describe()).runId;
      await reportEmail(at, id, { kind: 'complained' });
      await until('a late run', async () => (await handle(id).describe()).runId !== first);
      return await settled(id);
    },
    'topup-refunded': async () => await recordTopUp(at, 'refunded'),
    'topup-refunded-by-staff': async () => await recordTopUp(at, 'refunded by staff'),
    'topup-expired': async () => settled(await recordTopUp(at, 'expired')),
    'inbound-unmatched': async () => settled(await startReply(at, '+48500100299', 'Dzień dobry')),
    'bulk-ended': async () => {
      const items = [await unanswered(), newId('msg')];
      const made = { action: 'resubmit', actor: 'recorded', grounds: {}, filter: {}, items } as const;
      const id = await transaction(at.sql, (tx) => insertBulk(tx, made));
      await started(id);
      return await settled(id);
    },
    reconciliation: async () => {
      const id = await scheduled();
      await handle(id).terminate('recorded');
      return regular('reconciliation');
    },
    'clean-up': () => regular('cleanUp'),
    'sender-domains': () => regular('senderDomains'),
    retention: () => regular('retention'),
    statements: () => regular('statements'),
    'resend-taken': () => toldAgain('/take', '/take'),
    'resend-refused': () => toldAgain('/take', '/refuse'),
  };
}

// Stack traces of failed attempts name the folder this was recorded in.
function withoutPaths(json: string): string {
  // The modules may be linked from elsewhere.
  return json
    .replaceAll(fileURLToPath(new URL('../..', import.meta.url)), '')
    .replaceAll(/\(\/[^()\s]*\/(?=node_modules\/)/g, '(');
}

async function save(name: string, workflowId: string): Promise<void> {
  const history = await pipeline.client.workflow.getHandle(workflowId).fetchHistory();
  await writeFile(
    new URL(`${name}.json`, FOLDER),
    withoutPaths(
      JSON.stringify({ workflowId, history: JSON.parse(historyToJSON(history)) as unknown }, null, 1),
    ) + '\n',
    { flag: 'wx' },
  );
}
