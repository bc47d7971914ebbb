/** Saved views of the Temporal UI: the question and the query; `$…` are to be filled. ops/temporal/queries.md lists them. */
const VIEWS = {
  account: ['what is under way for one account', 'Account = "$ACCOUNT" AND ExecutionStatus = "Running"'],
  request: ['the messages of one request', 'Request = "$REQUEST"'],
  scheduled: [
    'sleeps until its send time',
    'WorkflowType = "message" AND MessageStatus = "scheduled" AND ExecutionStatus = "Running"',
  ],
  overdue: [
    'its send time is over, and it still waits',
    'MessageStatus = "scheduled" AND ExecutionStatus = "Running" AND SendTime < "$TIME"',
  ],
  day: ['scheduled for a certain day', 'MessageStatus = "scheduled" AND SendTime BETWEEN "$FROM" AND "$TO"'],
  queued: [
    'not yet taken by a route',
    'MessageStatus = "queued" AND Route = "$ROUTE" AND ExecutionStatus = "Running"',
  ],
  unanswered: [
    'submits that nobody answered',
    'MessageStatus = "unanswered" AND ExecutionStatus = "Running"',
  ],
  noReport: [
    'waits for a delivery report for long',
    'MessageStatus = "sent" AND ExecutionStatus = "Running" AND StartTime < "$TIME"',
  ],
  failed: [
    'failed, expired or not delivered on one route',
    'MessageStatus IN ("failed", "expired", "undelivered") AND Route = "$ROUTE" AND CloseTime > "$TIME"',
  ],
  cancelled: ['cancelled in Temporal by staff', 'ExecutionStatus = "Canceled"'],
  endedBadly: ['ended badly: should be none', 'ExecutionStatus IN ("Failed", "Terminated", "TimedOut")'],
  shortWork: [
    'short work that has not ended for long',
    'WorkflowType IN ("inbound", "lookup", "notify", "resend") AND ExecutionStatus = "Running" AND StartTime < "$TIME"',
  ],
  regularWork: ['the regular work', 'WorkflowType IN ("reconciliation", "cleanUp", "retention")'],
} as const;

export type TemporalViewName = keyof typeof VIEWS;

type Blank<Query extends string> = Query extends `${string}"$${infer Name}"${infer Rest}`
  ? Name | Blank<Rest>
  : never;

/** What a view's query leaves open. */
export type ViewValues<Name extends TemporalViewName> = Record<Blank<(typeof VIEWS)[Name][1]>, string>;

export const TEMPORAL_VIEW_NAMES = Object.keys(VIEWS) as TemporalViewName[];

/** The Temporal UI of a namespace. */
export interface TemporalUi {
  /** Without a trailing slash: `http://localhost:8233`. */
  url: string;
  namespace: string;
}

export interface TemporalView {
  question: string;
  query: string;
  link: string;
}

/** A saved view with a link to it. @param values ids, names and instants (ISO 8601), none with a quotation mark */
export function temporalView<Name extends TemporalViewName>(
  ui: TemporalUi,
  name: Name,
  values: ViewValues<Name>,
): TemporalView {
  const [question, blank] = VIEWS[name];
  const query = blank.replace(/\$([A-Z]+)/g, (_, of: string) => (values as Record<string, string>)[of] ?? '');
  // Parentheses too, which end a link in Markdown.
  const escaped = encodeURIComponent(query).replace(/[()]/g, (one) => (one === '(' ? '%28' : '%29'));
  return { question, query, link: `${workflowsOf(ui)}?query=${escaped}` };
}

/** The page of one workflow. */
export function temporalWorkflow(ui: TemporalUi, id: string): string {
  return `${workflowsOf(ui)}/${encodeURIComponent(id)}`;
}

function workflowsOf({ url, namespace }: TemporalUi): string {
  return `${url}/namespaces/${encodeURIComponent(namespace)}/workflows`;
}
