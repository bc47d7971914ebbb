import { afterAll, beforeAll, expect, it } from 'vitest';
import { addRule } from '../../db/routes/routes.ts';
import { type Smsc, startSmsc } from '../smsc/smsc.ts';
import { eventually } from '../support/eventually.ts';
import { type Product, type ProductAccount, sendSurely, startProduct } from '../support/product.ts';

const MESSAGES = 16;
const PARTS = 3;
const THROTTLED = 0x58;
const PHONE = '+48500700001';
// Each message says one letter only, so a part says which message it is of.
const letterOf = (index: number) => String.fromCharCode(97 + index);

let product: Product;
let smsc: Smsc;
let accounts: ProductAccount[];

beforeAll(async () => {
  [product, smsc] = await Promise.all([startProduct(2), startSmsc()]);
  accounts = [await product.account(), await product.account()];
  await product.route('long', smsc, accounts[0]!, { sessions: 2 });
  const everything = { prefix: '', type: null, priority: null, weight: 100 };
  await addRule(product.sql, { route: 'long', accountId: accounts[1]!.id, ...everything });
}, 120_000);
afterAll(async () => {
  await product.stop();
  await smsc.stop();
}, 180_000);

it('long messages to one phone, at once, of two accounts and by two workers, are told apart; all tries of one are alike', async () => {
  const tried = new Set<string>();
  smsc.behave = ({ shortMessage }) => {
    const letter = partOf(shortMessage).letter;
    const first = !tried.has(letter);
    tried.add(letter);
    return first ? { status: THROTTLED } : {};
  };
  const answers = await Promise.all(
    Array.from({ length: MESSAGES }, (_, index) =>
      sendSurely(accounts[index % 2]!.api, { to: PHONE, text: letterOf(index).repeat(400) }),
    ),
  );
  expect(answers.map(({ body }) => body.parts)).toEqual(Array.from({ length: MESSAGES }, () => PARTS));
  await eventually(
    () => Promise.resolve(smsc.submits.filter(({ taken }) => taken).length),
    (count) => count === MESSAGES * PARTS,
    60_000,
  );
  const references = new Map<string, Set<number>>();
  for (const { shortMessage } of smsc.submits) {
    const { letter, reference } = partOf(shortMessage);
    references.set(letter, (references.get(letter) ?? new Set()).add(reference));
  }
  expect(smsc.submits.length).toBeGreaterThanOrEqual(MESSAGES * (PARTS + 1));
  expect([...references.values()].filter(({ size }) => size !== 1)).toEqual([]);
  const numbers = [...references.values()].flatMap((own) => [...own]);
  expect(new Set(numbers).size).toBe(MESSAGES);
}, 120_000);

/** Reads the user data header of a part (3GPP TS 23.040, 9.2.3.24.1 and 9.2.3.24.8), and the first letter after it. */
function partOf(bytes: Buffer): { reference: number; letter: string } {
  const length = bytes[0]!;
  const letter = bytes.toString('latin1', length + 1, length + 2);
  expect([0x00, 0x08]).toContain(bytes[1]);
  return { reference: bytes[1] === 0x08 ? bytes.readUInt16BE(3) : bytes[3]!, letter };
}
