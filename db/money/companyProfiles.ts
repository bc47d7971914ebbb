import type { Buyer } from '../../domain/parties.ts';
import type { Sql } from '../connection.ts';

/** Who buys, for the invoices of an account; null: it has not said. */
export async function readBuyer(sql: Sql, account: string): Promise<Buyer | null> {
  const [buyer] = await sql<Buyer[]>`
    select kind, nip, name, street, postal_code, city from company_profiles where account_id = ${account}`;
  return buyer ?? null;
}

export async function writeBuyer(sql: Sql, account: string, buyer: Buyer): Promise<void> {
  const { kind, nip, name, street, postalCode, city } = buyer;
  await sql`
    insert into company_profiles (account_id, kind, nip, name, street, postal_code, city)
    values (${account}, ${kind}, ${nip}, ${name}, ${street}, ${postalCode}, ${city})
    on conflict (account_id) do update set kind = excluded.kind, nip = excluded.nip, name = excluded.name,
      street = excluded.street, postal_code = excluded.postal_code, city = excluded.city, updated_at = now()`;
}
