import { getReport } from '../../api/reports.ts';
import { tool } from '../tool.ts';

export const reportTools = [
  tool({
    name: 'get_report',
    title: 'Report over a period',
    description:
      'Adds up messages, parts, costs, deliveries, replies and clicks over a period of Polish calendar days, by day or as asked in `group_by`. Money is in grosze net. For single messages use `list_messages`.',
    subsets: ['reports'],
    endpoint: getReport,
    reads: true,
  }),
];
