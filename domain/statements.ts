/** A monthly statement of a postpaid account, as its customer sees it. */
export interface StatementForCustomer {
  /** `st_…`, by which a payment is booked. */
  statement: string;
  account: string;
  /** `YYYY-MM`, a calendar month in Poland. */
  month: string;
  /** Net. */
  amountGrosze: number;
  dueAt: Date;
  paidAt: Date | null;
}
