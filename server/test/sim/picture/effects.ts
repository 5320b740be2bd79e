// What all transfers of a payment together must have done by now, told from its row alone: how much each
// account has more or less, and how much is set aside. Which steps that took is the server's business; that
// nothing else moved is ours.
import { cardEffect, ofAccount } from './card-facts.ts';
import { amountIn, type Noted, type Payment, type Picture, type Transfer } from './picture.ts';

/** Amounts by account; what is zero is not there. Held amounts stand under the account's name and ` held`. */
export type Sums = Map<string, bigint>;

export function add(sums: Sums, name: string | null | undefined, amount: bigint): void {
  if (!name || amount === 0n) return;
  const sum = (sums.get(name) ?? 0n) + amount;
  if (sum === 0n) sums.delete(name);
  else sums.set(name, sum);
}

const textOf = (sums: Sums) =>
  [...sums]
    .map(([name, sum]) => `${name} ${sum}`)
    .sort()
    .join(', ');

function effectOf(transfers: readonly Transfer[]): Sums {
  const sums: Sums = new Map();
  for (const { phase, debit, credit, amount } of transfers) {
    const moves = phase === 'posted' || phase === 'post';
    if (moves) add(sums, debit, -amount);
    if (moves) add(sums, credit, amount);
    if (phase !== 'posted') add(sums, `${debit} held`, phase === 'pending' ? amount : -amount);
  }
  return sums;
}

const isInside = (id: string | null | undefined): id is string =>
  id?.startsWith('InternalAccount:') ?? false;

interface Money {
  systemAccount(purpose: string, currency: string | null | undefined): string;
  source: string;
  sent: bigint;
  /** What leaves the source: all that is sent, save a fee that it would pay to itself. */
  leaving: bigint;
  row: Noted;
}

function moneyOf(row: Noted, environment: string): Money {
  const systemAccount = (purpose: string, currency: string | null | undefined) =>
    `system:${environment}:${purpose}:${currency}`;
  const inside = isInside(row.source_account);
  const source = inside
    ? (row.source_account as string)
    : systemAccount('inbound', row.sent_currency);
  const sent = amountIn(row.sent_amount);
  const own = row.platform_fee_account === source;
  return {
    systemAccount,
    source,
    sent,
    leaving: own ? sent - amountIn(row.platform_fees) : sent,
    row,
  };
}

/** The payment made: fees earned, both currencies exchanged, the money at its end. */
function addPayment(
  due: Sums,
  { systemAccount, source, leaving, sent, row }: Money,
  end: string,
): void {
  const [received, fees] = [amountIn(row.received_amount), amountIn(row.fees)];
  const earned = amountIn(row.platform_fees);
  const { sent_currency: from, received_currency: to } = row;
  add(due, source, -leaving);
  if (row.platform_fee_account !== source) add(due, row.platform_fee_account, earned);
  add(due, systemAccount('fees', from), fees - earned);
  add(due, systemAccount('fx_position', from), sent - fees);
  add(due, systemAccount('fx_position', to), -received);
  add(due, end, received);
}

function outgoingEffect(row: Noted, environment: string): Sums {
  const due: Sums = new Map();
  const money = moneyOf(row, environment);
  const { systemAccount, source, leaving } = money;
  const funded = amountIn(row.funded_amount);
  const { sent_currency: from, received_currency: to } = row;
  add(due, systemAccount('rail_in_transit', from), -funded);
  add(due, systemAccount('inbound', from), funded);
  if (row.funds === 'HELD') add(due, `${source} held`, leaving);
  if (row.funds === 'SUBMITTED') addPayment(due, money, systemAccount('rail_in_transit', to));
  if (row.funds === 'SETTLED') {
    const inside = isInside(row.destination_account);
    addPayment(
      due,
      money,
      inside ? (row.destination_account as string) : systemAccount('external_settlement', to),
    );
  }
  if (row.funds === 'RETURNED' && funded) {
    add(due, systemAccount('inbound', from), -funded);
    add(due, systemAccount('rail_in_transit', from), funded);
  }
  if (row.funds === 'SUSPENSE') {
    const parked = funded || leaving;
    add(due, source, -parked);
    add(due, systemAccount('suspense', from), parked);
  }
  return due;
}

/** Money in. It lies on the account, or in our keeping where no account can have it. */
function incomingEffect(row: Noted, environment: string): Sums {
  const due: Sums = new Map();
  const amount = amountIn(row.received_amount);
  const inside = isInside(row.destination_account);
  const to = row.destination_account as string;
  const systemAccount = (purpose: string) =>
    `system:${environment}:${purpose}:${row.received_currency}`;
  const arrive = (at: string) => {
    add(due, systemAccount('rail_in_transit'), -amount);
    add(due, at, amount);
  };
  // The receiver's end of a payment inside: the payer's end has moved the money.
  if (row.quote_id && row.sent_amount) return due;
  const open = row.status === 'PENDING' || row.status === 'PROCESSING';
  if (row.funds === 'SETTLED') arrive(inside ? to : systemAccount('external_settlement'));
  if (row.funds === 'SUSPENSE') arrive(systemAccount('suspense'));
  if (row.funds === 'HELD' || row.funds === 'SUBMITTED') {
    arrive(inside && open ? to : systemAccount('inbound'));
    if (inside && open) add(due, `${to} held`, amount);
  }
  return due;
}

/**
 * What an owner owes stands on the receivable account: a debit there is a debit of theirs,
 * and what they repay they have had.
 */
function withoutDebts(transfers: readonly Transfer[], row: Noted): Transfer[] {
  const isHouse = (id: string) => id.includes(':receivable:');
  return transfers.flatMap((each) => {
    if (isHouse(each.credit)) return [];
    if (!isHouse(each.debit)) return [each];
    const fee = each.step.startsWith('refund.fee.');
    const owner = fee ? row.platform_fee_account : row.destination_account;
    return [{ ...each, debit: owner ?? each.debit }];
  });
}

/** A digital asset that cannot be used goes to a balance of whoever paid, not back to a wallet. */
function withStrays(did: Sums, { row, transfers }: Payment): Sums {
  const out = transfers.find(({ step, credit }) => step === 'refund.out' && isInside(credit));
  if (!out || row.type !== 'OUTGOING') return did;
  const left = new Map(did);
  add(left, out.credit, -out.amount);
  add(left, out.debit.replace(':inbound:', ':rail_in_transit:'), out.amount);
  return left;
}

/** A pull that was taken back after it was passed on is paid by its payer, beside the payment's own way. */
const isTakenBack = ({ row }: Payment, { step }: Transfer): boolean =>
  row.type === 'OUTGOING' &&
  !isInside(row.source_account) &&
  (step === 'return' || step === 'return.owed');

function differs({ status, funds }: Noted, due: Sums, did: Sums): string | undefined {
  const [should, is] = [textOf(due), textOf(did)];
  if (should === is) return undefined;
  return `is ${status}, money ${funds}; it moved [${is}] and not [${should}]`;
}

/** What is wrong with what a payment's transfers did. */
export function effectProblem(picture: Picture, payment: Payment): string | undefined {
  const { row, transfers } = payment;
  const environment = picture.platforms.get(row.platform_id ?? '')?.environment ?? 'sandbox';
  if (row.type === 'CARD')
    return differs(row, cardEffect(row, environment), effectOf(ofAccount(row, transfers)));
  const outgoing = row.type === 'OUTGOING';
  const due = outgoing ? outgoingEffect(row, environment) : incomingEffect(row, environment);
  // How much a platform or an agent sends in a day is counted in units of its own.
  const money = transfers.filter(
    (each) => !each.currency.startsWith('velocity.') && !isTakenBack(payment, each),
  );
  const did = withStrays(effectOf(withoutDebts(money, row)), payment);
  return differs(row, due, did);
}
