import { STUCK_KINDS, type StuckKind } from '../../db/messages/stuck.ts';

/** What does not move on, as Temporal alone knows it. */
const WORKFLOW_KINDS = ['task', 'timer'] as const;
export type WorkflowKind = (typeof WORKFLOW_KINDS)[number];

/** What the database knows to be stuck, and what Temporal does. */
export const KINDS = [...STUCK_KINDS, ...WORKFLOW_KINDS] as const;
export type Kind = StuckKind | WorkflowKind;

/** After so many minutes something counts as stuck, unless `--minutes` says otherwise. */
export const MINUTES: Readonly<Record<Kind, number>> = {
  overdue: 5,
  queued: 10,
  paused: 0,
  unanswered: 0,
  no_report: 24 * 60,
  email_queued: 10,
  email_unanswered: 0,
  webhook: 0,
  resend: 5,
  task: 1,
  timer: 5,
};

/** What can be done about what. */
export const STUCK_ACTIONS = {
  cancel: 'overdue',
  resubmit: 'unanswered',
  'give-up': 'unanswered',
  resend: 'webhook',
} as const satisfies Record<string, StuckKind>;
export type StuckAction = keyof typeof STUCK_ACTIONS;
/** Their names, for a choice. */
export const STUCK_ACTION_NAMES = Object.keys(STUCK_ACTIONS) as StuckAction[];
