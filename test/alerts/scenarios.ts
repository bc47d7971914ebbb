import type { Firing, Scenario } from './promtool.ts';

/** When an alert has to fire, and when it must not, by what each of these is. */
interface Expectation {
  fires: Record<string, Scenario & { firing: Firing }>;
  silent: Record<string, Scenario>;
}

const page = (labels: Record<string, string>, summary: string): { firing: Firing } => ({
  firing: { labels: { ...labels, severity: 'page' }, summary },
});
const ticket = (labels: Record<string, string>, summary: string): { firing: Firing } => ({
  firing: { labels: { ...labels, severity: 'ticket' }, summary },
});

/** A histogram of which so many more a scrape are at most `bound`, and so many more at most `above`. */
function histogram(name: string, labels: string, buckets: Record<string, number>): Record<string, string> {
  const comma = labels === '' ? '' : ',';
  return Object.fromEntries(
    Object.entries(buckets).map(([le, more]) => [
      `${name}_bucket{${labels}${comma}le="${le}"}`,
      `0+${more}x400`,
    ]),
  );
}

const SENDS = 'route="/v1/messages",method="POST"';
const MESSAGES_TASKS = 'workflow_type="message",task_queue="messages"';
const TASK_WAITS = 'temporal_workflow_task_schedule_to_start_latency_seconds';
const UNFIT = 'temporal_workflow_task_execution_failed_total{workflow_type="message"}';
const CALLS = 'goniec_temporal_call_duration_seconds_count';

const UNREAD = ticket(
  { job: 'goniec-api', instance: 'a:9464' },
  'a:9464 cannot read from the database how long the queues are, or what regular work was done: other alerts are blind',
);

export const EXPECTATIONS: Record<string, Expectation> = {
  GoniecProcessDown: {
    fires: {
      'a worker that does not answer': {
        series: { 'up{job="goniec-worker",instance="w:9465"}': '0x20' },
        at: '2m',
        ...page({ job: 'goniec-worker', instance: 'w:9465' }, 'goniec-worker on w:9465 does not answer'),
      },
    },
    silent: {
      'a process of others': { series: { 'up{job="node",instance="w:9100"}': '0x20' }, at: '2m' },
      'a restart': { series: { 'up{job="goniec-api",instance="a:9464"}': '1 0 0 1x20' }, at: '1m30s' },
    },
  },
  GoniecWorkersMissing: {
    fires: {
      'workers that Prometheus finds no more': {
        series: {
          'up{job="goniec-api",instance="a:9464"}': '1x40',
          'up{job="goniec-worker",instance="w:9465"}': '1x4 _x36',
        },
        at: '9m',
        ...page({}, 'No worker answers: nothing is sent, and no report is applied'),
      },
      'the only worker is down': {
        series: { 'up{job="goniec-worker",instance="w:9465"}': '1x4 0x36' },
        at: '5m',
        ...page({}, 'No worker answers: nothing is sent, and no report is applied'),
      },
    },
    silent: {
      'one of two is left': {
        series: {
          'up{job="goniec-worker",instance="v:9465"}': '1x40',
          'up{job="goniec-worker",instance="w:9465"}': '1x4 0x36',
        },
        at: '9m',
      },
      'a restart of the only one': {
        series: { 'up{job="goniec-worker",instance="w:9465"}': '1x4 0x4 1x32' },
        at: '5m',
      },
    },
  },
  GoniecDatabaseDown: {
    fires: {
      'no answer for two minutes': {
        series: { 'goniec_database_up{job="goniec-api",instance="a:9464"}': '1 0x20' },
        at: '2m',
        ...page({ job: 'goniec-api', instance: 'a:9464' }, 'a:9464 gets no answer from the database'),
      },
    },
    silent: {
      'a failover of half a minute': {
        series: { 'goniec_database_up{job="goniec-api",instance="a:9464"}': '1 0 0 1x20' },
        at: '2m',
      },
    },
  },
  GoniecDatabaseUnread: {
    fires: {
      'queues that cannot be counted': {
        series: {
          'goniec_database_up{job="goniec-api",instance="a:9464"}': '1x80',
          'goniec_regular_work_interval_seconds{instance="a:9464",schedule="clean-up",activity="deleteLeftovers"}':
            '3600x80',
          'goniec_route_queue_messages{instance="b:9464",route="smsc"}': '7x80',
        },
        at: '15m',
        ...UNREAD,
      },
      'regular work that cannot be read': {
        series: {
          'goniec_database_up{job="goniec-api",instance="a:9464"}': '1x80',
          'goniec_route_queue_messages{instance="a:9464",route="smsc"}': '7x80',
        },
        at: '15m',
        ...UNREAD,
      },
    },
    silent: {
      'both are there': {
        series: {
          'goniec_database_up{job="goniec-api",instance="a:9464"}': '1x80',
          'goniec_regular_work_interval_seconds{instance="a:9464",schedule="clean-up",activity="deleteLeftovers"}':
            '3600x80',
          'goniec_route_queue_messages{instance="a:9464",route="smsc"}': '7x80',
        },
        at: '15m',
      },
    },
  },
  GoniecDatabasePoolExhausted: {
    fires: {
      'statements that wait for three minutes': {
        series: {
          'goniec_database_pool_waiting_statements{job="goniec-api",instance="a:9464",pool="main"}': '4x20',
        },
        at: '3m',
        ...ticket(
          { job: 'goniec-api', instance: 'a:9464', pool: 'main' },
          'Statements of a:9464 wait for a database connection',
        ),
      },
    },
    silent: {
      'one that waits now and then': {
        series: {
          'goniec_database_pool_waiting_statements{job="goniec-api",instance="a:9464",pool="main"}':
            '4 4 0 4 4 0 4 4 0 4 4 0 4 4',
        },
        at: '3m',
      },
    },
  },
  GoniecEventLoopBlocked: {
    fires: {
      'a lag of 0.6 s': {
        series: { 'nodejs_eventloop_lag_p99_seconds{job="goniec-api",instance="a:9464"}': '0.6x40' },
        at: '6m',
        ...ticket(
          { job: 'goniec-api', instance: 'a:9464' },
          'a:9464 is overloaded: its event loop lags by 600ms',
        ),
      },
    },
    silent: {
      'a lag of 0.4 s': {
        series: { 'nodejs_eventloop_lag_p99_seconds{job="goniec-api",instance="a:9464"}': '0.4x40' },
        at: '6m',
      },
    },
  },
  GoniecProcessRestarts: {
    fires: {
      'three restarts in ten minutes': {
        series: {
          'process_start_time_seconds{job="goniec-worker",instance="w:9465"}': '1x10 2x10 3x10 4x10',
        },
        at: '10m',
        ...ticket({ job: 'goniec-worker', instance: 'w:9465' }, 'w:9465 starts again and again'),
      },
    },
    silent: {
      'a release and a way back': {
        series: { 'process_start_time_seconds{job="goniec-worker",instance="w:9465"}': '1x10 2x10 3x40' },
        at: '10m',
      },
    },
  },
  GoniecApiErrors: {
    fires: {
      'one of ten requests, over two APIs': {
        series: {
          'goniec_http_requests_total{instance="a",method="POST",route="/v1/messages",status="201"}':
            '0+27x40',
          'goniec_http_requests_total{instance="b",method="GET",route="/v1/messages",status="502"}': '0+3x40',
        },
        at: '8m',
        ...page({}, '10% of the requests are answered with 5xx'),
      },
    },
    silent: {
      'one of a hundred': {
        series: {
          'goniec_http_requests_total{method="GET",route="/v1/messages",status="200"}': '0+297x40',
          'goniec_http_requests_total{method="GET",route="/v1/messages",status="502"}': '0+3x40',
        },
        at: '8m',
      },
      'every one of a few': {
        series: { 'goniec_http_requests_total{method="GET",route="/v1/messages",status="502"}': '0+1x40' },
        at: '8m',
      },
    },
  },
  GoniecApiSlow: {
    fires: {
      'sends that take 2.5 to 5 s': {
        series: histogram('goniec_http_request_duration_seconds', SENDS, { '2.5': 0, '5': 10, '+Inf': 10 }),
        at: '11m',
        ...page({}, 'Sends are answered slowly: 95th percentile 4.875s'),
      },
    },
    silent: {
      'slow exports': {
        series: histogram('goniec_http_request_duration_seconds', 'route="/v1/contacts",method="GET"', {
          ...{ '2.5': 0, '5': 10, '+Inf': 10 },
        }),
        at: '11m',
      },
      'sends that take 1 to 2.5 s': {
        series: histogram('goniec_http_request_duration_seconds', SENDS, {
          ...{ '1': 0, '2.5': 10, '5': 10, '+Inf': 10 },
        }),
        at: '11m',
      },
    },
  },
  GoniecSendsUnresolved: {
    fires: {
      'a first one': {
        series: { 'goniec_messages_requested_total{outcome="unresolved",instance="a"}': '0x4 1x8' },
        at: '2m',
        ...page({}, 'Callers were told that nobody knows whether their messages will be sent'),
      },
    },
    silent: {
      'accepted ones': {
        series: {
          'goniec_messages_requested_total{outcome="accepted",instance="a"}': '0+5x20',
          'goniec_messages_requested_total{outcome="unresolved",instance="a"}': '3x20',
        },
        at: '4m',
      },
    },
  },
  GoniecStartsLate: {
    fires: {
      'an hour without Temporal': {
        series: { 'goniec_backlog_oldest_seconds{instance="a:9464"}': '0 15+15x240' },
        at: '5m',
        ...page({}, 'Accepted messages are not started: the oldest has waited 5m 0s'),
      },
    },
    silent: {
      'a restart of the only worker': {
        series: { 'goniec_backlog_oldest_seconds{instance="a:9464"}': '0 15 30 45 60 0x40' },
        at: '2m',
      },
    },
  },
  GoniecSubmitsLate: {
    fires: {
      'messages that are a minute to five late': {
        series: histogram('goniec_message_submit_delay_seconds', '', {
          ...{ '0.5': 0, '60': 0, '300': 10, '+Inf': 10 },
        }),
        at: '16m',
        ...page({}, 'Messages reach the providers 4m 48s late (95th percentile)'),
      },
    },
    silent: {
      'one of a hundred': {
        series: histogram('goniec_message_submit_delay_seconds', '', {
          ...{ '0.5': 99, '60': 99, '300': 100, '+Inf': 100 },
        }),
        at: '16m',
      },
    },
  },
  GoniecFewDelivered: {
    fires: {
      'half of them': {
        series: {
          'goniec_messages_ended_total{status="delivered"}': '0+1x400',
          'goniec_messages_ended_total{status="undelivered"}': '0+1x400',
          'goniec_messages_ended_total{status="cancelled"}': '0+9x400',
        },
        at: '80m',
        ...ticket({}, 'Only 50% of the messages were delivered within the last hour'),
      },
    },
    silent: {
      'three of four': {
        series: {
          'goniec_messages_ended_total{status="delivered"}': '0+3x400',
          'goniec_messages_ended_total{status="undelivered"}': '0+1x400',
        },
        at: '80m',
      },
      'none of a few': {
        series: {
          'goniec_messages_ended_total{status="delivered"}': '0x400',
          'goniec_messages_ended_total{status="failed"}': '0 1+0x50 2+0x50 3+0x50 4+0x200',
        },
        at: '80m',
      },
    },
  },
  GoniecMessagesUnanswered: {
    fires: {
      'two that all processes see': {
        series: {
          'goniec_route_unanswered_messages{instance="w1",route="smsc"}': '2x80',
          'goniec_route_unanswered_messages{instance="w2",route="smsc"}': '2x80',
          'goniec_route_unanswered_messages{instance="w1",route="other"}': '0x80',
        },
        at: '16m',
        ...ticket({ route: 'smsc' }, '2 messages or e-mails on smsc have no answer: stuck --route smsc'),
      },
    },
    silent: {
      'one that is settled within ten minutes': {
        series: { 'goniec_route_unanswered_messages{instance="w1",route="smsc"}': '1x40 0x40' },
        at: '16m',
      },
    },
  },
  GoniecRouteDown: {
    fires: {
      'no worker is connected': {
        series: {
          'goniec_route_up{instance="w1",worker="1",route="smsc"}': '0x20',
          'goniec_route_up{instance="w2",worker="2",route="smsc"}': '0x20',
          'goniec_route_state{instance="w1",route="smsc",state="active"}': '1x20',
          'goniec_route_state{instance="w1",route="smsc",state="paused"}': '0x20',
        },
        at: '2m',
        ...page({ route: 'smsc' }, 'The route smsc does not work'),
      },
    },
    silent: {
      'one of two workers is connected': {
        series: {
          'goniec_route_up{instance="w1",worker="1",route="smsc"}': '0x20',
          'goniec_route_up{instance="w2",worker="2",route="smsc"}': '1x20',
          'goniec_route_state{instance="w1",route="smsc",state="active"}': '1x20',
        },
        at: '2m',
      },
      'staff have paused it': {
        series: {
          'goniec_route_up{instance="w1",worker="1",route="smsc"}': '0x20',
          'goniec_route_state{instance="w1",route="smsc",state="active"}': '0x20',
          'goniec_route_state{instance="w1",route="smsc",state="paused"}': '1x20',
        },
        at: '2m',
      },
    },
  },
  GoniecRouteQueueGrows: {
    fires: {
      '20 more every minute': {
        series: {
          'goniec_route_queue_messages{instance="w1",route="smsc"}': '200+5x80',
          'goniec_route_queue_messages{instance="w2",route="smsc"}': '200+5x80',
        },
        at: '12m',
        ...page({ route: 'smsc' }, '440 messages or e-mails wait for smsc, and they do not get fewer'),
      },
      'as many as are counted, for ten minutes': {
        series: { 'goniec_route_queue_messages{instance="w1",route="smsc"}': '500000x80' },
        at: '12m',
        ...page({ route: 'smsc' }, '500000 messages or e-mails wait for smsc, and they do not get fewer'),
      },
    },
    silent: {
      'a mailing that goes out': {
        series: { 'goniec_route_queue_messages{instance="w1",route="smsc"}': '0 20000-100x80' },
        at: '20m',
      },
      'a hundred that stay': {
        series: { 'goniec_route_queue_messages{instance="w1",route="smsc"}': '100x80' },
        at: '20m',
      },
    },
  },
  GoniecRouteNoReports: {
    fires: {
      'one that submits and hears nothing': {
        series: {
          'goniec_route_seconds_since_last_report{instance="w1",route="smsc"}': '0+15x120',
          'goniec_route_submitted_parts_total{instance="w1",worker="1",route="smsc"}': '0+1x120',
        },
        at: '21m',
        ...page({ route: 'smsc' }, 'smsc takes what is sent, and reports nothing of it'),
      },
    },
    silent: {
      'one that reports': {
        series: {
          'goniec_route_seconds_since_last_report{instance="w1",route="smsc"}': '20x120',
          'goniec_route_submitted_parts_total{instance="w1",worker="1",route="smsc"}': '0+1x120',
        },
        at: '21m',
      },
      'one that has nothing to do': {
        series: {
          'goniec_route_seconds_since_last_report{instance="w1",route="smsc"}': '0+15x120',
          'goniec_route_submitted_parts_total{instance="w1",worker="1",route="smsc"}': '40x120',
          'goniec_route_submitted_parts_total{instance="w1",worker="1",route="other"}': '0+1x120',
        },
        at: '21m',
      },
    },
  },
  GoniecRouteThrottled: {
    fires: {
      'one of two is throttled': {
        series: {
          'goniec_route_submitted_parts_total{instance="w1",worker="1",route="smsc"}': '0+10x120',
          'goniec_route_throttled_parts_total{instance="w1",worker="1",route="smsc"}': '0+10x120',
        },
        at: '21m',
        ...ticket({ route: 'smsc' }, 'The provider of smsc allows less than the rate that is set'),
      },
    },
    silent: {
      'one of ten': {
        series: {
          'goniec_route_submitted_parts_total{instance="w1",worker="1",route="smsc"}': '0+90x120',
          'goniec_route_throttled_parts_total{instance="w1",worker="1",route="smsc"}': '0+10x120',
        },
        at: '21m',
      },
      'each of a few': {
        series: {
          'goniec_route_submitted_parts_total{instance="w1",worker="1",route="smsc"}': '0x120',
          'goniec_route_throttled_parts_total{instance="w1",worker="1",route="smsc"}': '0+1x120',
        },
        at: '21m',
      },
    },
  },
  GoniecWebhooksExhausted: {
    fires: {
      'half of them': {
        series: {
          'goniec_webhook_events_total{outcome="delivered"}': '0+1x160',
          'goniec_webhook_events_total{outcome="exhausted"}': '0+1x160',
        },
        at: '31m',
        ...ticket({}, '50% of the webhook events are given up'),
      },
    },
    silent: {
      'one of ten': {
        series: {
          'goniec_webhook_events_total{outcome="delivered"}': '0+9x160',
          'goniec_webhook_events_total{outcome="exhausted"}': '0+1x160',
        },
        at: '31m',
      },
    },
  },
  GoniecRegularWorkFails: {
    fires: {
      'hourly work that fails for hours': {
        series: {
          'goniec_regular_work_seconds_since_success{instance="w1",schedule="maintenance",activity="erase"}':
            '0+15x1300',
          'goniec_regular_work_interval_seconds{instance="w1",schedule="maintenance",activity="erase"}':
            '3600x1300',
        },
        at: '5h',
        ...ticket(
          { schedule: 'maintenance', activity: 'erase' },
          'erase of maintenance has not succeeded for 5h 0m 0s',
        ),
      },
    },
    silent: {
      'nightly work in the afternoon': {
        series: {
          'goniec_regular_work_seconds_since_success{instance="w1",schedule="retention",activity="erase"}':
            '40000+15x1300',
          'goniec_regular_work_interval_seconds{instance="w1",schedule="retention",activity="erase"}':
            '86400x1300',
        },
        at: '5h',
      },
    },
  },
  GoniecFindingsOpen: {
    fires: {
      'two of a kind': {
        series: {
          'goniec_findings_open{instance="w1",kind="workflow_ended"}': '2x80',
          'goniec_findings_open{instance="w2",kind="workflow_ended"}': '2x80',
        },
        at: '16m',
        ...ticket(
          { kind: 'workflow_ended' },
          '2 findings of the reconciliation (workflow_ended) wait for a person: findings list',
        ),
      },
    },
    silent: {
      none: { series: { 'goniec_findings_open{instance="w1",kind="workflow_ended"}': '0x80' }, at: '16m' },
    },
  },
  GoniecWorkflowTasksFail: {
    fires: {
      // Tried again after 10, 20, 40 … s, at last every ten minutes.
      'one workflow that cannot go on, while its tries are still close': {
        series: { [UNFIT]: '1 2 3x1 4x3 5x8 6x10' },
        at: '6m',
        ...page(
          { workflow_type: 'message' },
          'Workflows of type message cannot go on: a fault, or a release that does not fit',
        ),
      },
      'the same one, when it is tried every ten minutes': {
        series: { [UNFIT]: '1 2 3x1 4x3 5x8 6x18 7x39 8x39 9x39 10x39' },
        at: '38m',
        ...page(
          { workflow_type: 'message' },
          'Workflows of type message cannot go on: a fault, or a release that does not fit',
        ),
      },
    },
    silent: {
      'a single try that failed': { series: { [UNFIT]: '0x4 1x60' }, at: '7m' },
      'what was repaired an hour ago': { series: { [UNFIT]: '0+1x40 40x260' }, at: '60m' },
    },
  },
  GoniecWorkersBehind: {
    fires: {
      'tasks that wait 3 to 5 s': {
        series: histogram(TASK_WAITS, MESSAGES_TASKS, { '2': 0, '3': 0, '5': 10, '+Inf': 10 }),
        at: '11m',
        ...page({}, 'Workers cannot keep up: tasks wait 4.9s (95th percentile)'),
      },
    },
    silent: {
      'other queues': {
        series: histogram(TASK_WAITS, 'workflow_type="batch",task_queue="bulk"', {
          '3': 0,
          '5': 9,
          '+Inf': 9,
        }),
        at: '11m',
      },
      'tasks that wait 1 s': {
        series: histogram(TASK_WAITS, MESSAGES_TASKS, { '1': 10, '2': 10, '5': 10, '+Inf': 10 }),
        at: '11m',
      },
    },
  },
  GoniecTemporalCallsFail: {
    fires: {
      'one of ten starts': {
        series: {
          [`${CALLS}{operation="start",outcome="ok"}`]: '0+9x60',
          [`${CALLS}{operation="start",outcome="error"}`]: '0+1x60',
        },
        at: '8m',
        ...page({}, '10% of the starts and cancels find no Temporal'),
      },
    },
    silent: {
      'other calls': {
        series: {
          [`${CALLS}{operation="update_with_start",outcome="ok"}`]: '0+9x60',
          [`${CALLS}{operation="update_with_start",outcome="error"}`]: '0x60',
          [`${CALLS}{operation="signal",outcome="error"}`]: '0+9x60',
        },
        at: '8m',
      },
    },
  },
  GoniecSdkMetricsMissing: {
    fires: {
      'a process without them': {
        series: { 'goniec_temporal_sdk_up{job="goniec-worker",instance="w:9465"}': '0x40' },
        at: '6m',
        ...ticket(
          { job: 'goniec-worker', instance: 'w:9465' },
          'The metrics of the Temporal SDK on w:9465 are missing',
        ),
      },
    },
    silent: {
      'a start': {
        series: { 'goniec_temporal_sdk_up{job="goniec-worker",instance="w:9465"}': '0x4 1x40' },
        at: '6m',
      },
    },
  },
};
