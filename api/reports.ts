import { report } from '../operations/reports/report.ts';
import { endpoint } from './http/endpoint.ts';
import { reportCsv } from './reports/csv.ts';
import { reportQuery } from './reports/query.ts';
import { reportSchema } from './reports/schema.ts';

/**
 * GET /v1/reports, which v2.3.0 only names: sums over the messages accepted in a period of Polish calendar days, with
 * all that came of them since.
 */
export const getReport = endpoint({
  method: 'GET',
  path: '/v1/reports',
  scope: 'read',
  id: 'getReport',
  summary: 'Adds up messages, costs, deliveries and reactions over a period.',
  description:
    'Sums over a period of Polish calendar days, grouped as asked. With `Accept: text/csv` as a table, without the totals.',
  refusals: ['period_reversed', 'period_too_long'],
  query: reportQuery,
  heavy: true,
  csv: true,
  responses: { 200: reportSchema },
  async handle(call) {
    const body = await report({ ...call, input: call.query });
    if (!call.csv) return { status: 200, body };
    return {
      status: 200,
      filename: `report_${body.from}_${body.to}_${body.group_by}.csv`,
      csv: reportCsv(body),
    };
  },
});
