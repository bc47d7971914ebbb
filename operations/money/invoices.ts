import { hasSqlState, SQLSTATE } from '../../db/connection.ts';
import {
  confirmInvoice,
  type Confirmation,
  insertInvoices,
  monthToExportBefore,
  type Numbering,
  readInvoices,
  unexported,
} from '../../db/money/invoices.ts';
import { StaffRefused } from '../../domain/refusals.ts';
import { recorded } from '../staff.ts';

/**
 * Makes the documents of a month for the operator's accounting; made once, they stay. @returns them, and what has none
 * @throws StaffRefused where corrections of an earlier month come first
 */
export const exportInvoices = recorded(
  'invoices export',
  async (sql, { month, numbering }: { month: string; numbering: Numbering }) => {
    const first = await monthToExportBefore(sql, month);
    if (first !== null) throw new StaffRefused({ reason: 'invoices_out_of_order', month: first });
    await insertInvoices(sql, month, numbering);
    const documents = await readInvoices(sql, month);
    const left = await unexported(sql, month);
    return { data: { documents, left }, details: { month, documents: documents.length } };
  },
);

/** Stores the numbers of invoices that accounting has issued, all or none. @throws StaffRefused */
export const confirmInvoices = recorded(
  'invoices confirm',
  async (sql, { confirmations }: { confirmations: readonly Confirmation[] }) => {
    const records = [];
    for (const one of confirmations) {
      const { document, number, ksefNumber } = one;
      const stored = await confirmInvoice(sql, one).catch((error: unknown) => {
        if (!hasSqlState(error, SQLSTATE.uniqueViolation)) throw error;
        throw new StaffRefused({ reason: 'invoice_number_used', document }, undefined, error);
      });
      if (stored === undefined) throw new StaffRefused({ reason: 'invoice_missing', document });
      const details = { number, ksef_number: ksefNumber };
      records.push({ account: stored.accountId, subject: document, details });
    }
    return { data: { confirmed: records.length }, records };
  },
);
