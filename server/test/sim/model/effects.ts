// The expected sum of all transfers of a payment, computed from its row: change of balance and of
// held amount for each account. The server chooses the steps. Any other sum is an error.
import { attributeToAccount, cardEffect } from './card-facts.ts';
import { amountIn, type Model, type Payment, type RecordedRow, type Transfer } from './model.ts';

/** Non-zero amounts by account. Held amounts have the account's ID and ` held` as key. */
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
    const isBalanceChange = phase === 'posted' || phase === 'post';
    if (isBalanceChange) add(sums, debit, -amount);
    if (isBalanceChange) add(sums, credit, amount);
    if (phase !== 'posted') add(sums, `${debit} held`, phase === 'pending' ? amount : -amount);
  }
  return sums;
}

const isInternalAccount = (id: string | null | undefined): id is string =>
  id?.startsWith('InternalAccount:') ?? false;

interface PaymentAmounts {
  systemAccount(purpose: string, currency: string | null | undefined): string;
  source: string;
  sentAmount: bigint;
  /** Amount debited to the source: the sent amount without a fee paid to itself. */
  debitedAmount: bigint;
  row: RecordedRow;
}

function paymentAmountsOf(row: RecordedRow, environment: string): PaymentAmounts {
  const systemAccount = (purpose: string, currency: string | null | undefined) =>
    `system:${environment}:${purpose}:${currency}`;
  const isInternal = isInternalAccount(row.source_account);
  const source = isInternal
    ? (row.source_account as string)
    : systemAccount('inbound', row.sent_currency);
  const sentAmount = amountIn(row.sent_amount);
  const isOwnFee = row.platform_fee_account === source;
  return {
    systemAccount,
    source,
    sentAmount,
    debitedAmount: isOwnFee ? sentAmount - amountIn(row.platform_fees) : sentAmount,
    row,
  };
}

/** A completed payment: fees earned, currencies exchanged, funds at the destination. */
function addPayment(
  expectedSums: Sums,
  { systemAccount, source, debitedAmount, sentAmount, row }: PaymentAmounts,
  destination: string,
): void {
  const [receivedAmount, fees] = [amountIn(row.received_amount), amountIn(row.fees)];
  const earnedFees = amountIn(row.platform_fees);
  const { sent_currency: from, received_currency: to } = row;
  add(expectedSums, source, -debitedAmount);
  if (row.platform_fee_account !== source) add(expectedSums, row.platform_fee_account, earnedFees);
  add(expectedSums, systemAccount('fees', from), fees - earnedFees);
  add(expectedSums, systemAccount('fx_position', from), sentAmount - fees);
  add(expectedSums, systemAccount('fx_position', to), -receivedAmount);
  add(expectedSums, destination, receivedAmount);
}

function outgoingEffect(row: RecordedRow, environment: string): Sums {
  const expectedSums: Sums = new Map();
  const paymentAmounts = paymentAmountsOf(row, environment);
  const { systemAccount, source, debitedAmount } = paymentAmounts;
  const fundedAmount = amountIn(row.funded_amount);
  const { sent_currency: from, received_currency: to } = row;
  add(expectedSums, systemAccount('rail_in_transit', from), -fundedAmount);
  add(expectedSums, systemAccount('inbound', from), fundedAmount);
  if (row.funds === 'HELD') add(expectedSums, `${source} held`, debitedAmount);
  if (row.funds === 'SUBMITTED')
    addPayment(expectedSums, paymentAmounts, systemAccount('rail_in_transit', to));
  if (row.funds === 'SETTLED') {
    const isInternal = isInternalAccount(row.destination_account);
    addPayment(
      expectedSums,
      paymentAmounts,
      isInternal ? (row.destination_account as string) : systemAccount('external_settlement', to),
    );
  }
  if (row.funds === 'RETURNED' && fundedAmount) {
    add(expectedSums, systemAccount('inbound', from), -fundedAmount);
    add(expectedSums, systemAccount('rail_in_transit', from), fundedAmount);
  }
  if (row.funds === 'SUSPENSE') {
    const suspendedAmount = fundedAmount || debitedAmount;
    add(expectedSums, source, -suspendedAmount);
    add(expectedSums, systemAccount('suspense', from), suspendedAmount);
  }
  return expectedSums;
}

/** Incoming funds on the account, or on a system account if no account can receive them. */
function incomingEffect(row: RecordedRow, environment: string): Sums {
  const expectedSums: Sums = new Map();
  const amount = amountIn(row.received_amount);
  const isInternal = isInternalAccount(row.destination_account);
  const to = row.destination_account as string;
  const systemAccount = (purpose: string) =>
    `system:${environment}:${purpose}:${row.received_currency}`;
  const creditDeposit = (accountId: string) => {
    add(expectedSums, systemAccount('rail_in_transit'), -amount);
    add(expectedSums, accountId, amount);
  };
  // The transfers of an internal payment belong to its paying side.
  if (row.quote_id && row.sent_amount) return expectedSums;
  const isOpen = row.status === 'PENDING' || row.status === 'PROCESSING';
  if (row.funds === 'SETTLED')
    creditDeposit(isInternal ? to : systemAccount('external_settlement'));
  if (row.funds === 'SUSPENSE') creditDeposit(systemAccount('suspense'));
  if (row.funds === 'HELD' || row.funds === 'SUBMITTED') {
    creditDeposit(isInternal && isOpen ? to : systemAccount('inbound'));
    if (isInternal && isOpen) add(expectedSums, `${to} held`, amount);
  }
  return expectedSums;
}

/**
 * Attributes debts on the receivable account to the owner. A debit of this account is a debit of
 * the owner, and a repayment is a credit.
 */
function attributeDebts(transfers: readonly Transfer[], row: RecordedRow): Transfer[] {
  const isReceivable = (id: string) => id.includes(':receivable:');
  return transfers.flatMap((transfer) => {
    if (isReceivable(transfer.credit)) return [];
    if (!isReceivable(transfer.debit)) return [transfer];
    const isFeeRefund = transfer.step.startsWith('refund.fee.');
    const owner = isFeeRefund ? row.platform_fee_account : row.destination_account;
    return [{ ...transfer, debit: owner ?? transfer.debit }];
  });
}

/** A digital asset that cannot be returned to a wallet is credited to a balance of the payer. */
function removeRefundCredit(actualSums: Sums, { row, transfers }: Payment): Sums {
  const payoutOfRefund = transfers.find(
    ({ step, credit }) => step === 'refund.out' && isInternalAccount(credit),
  );
  if (!payoutOfRefund || row.type !== 'OUTGOING') return actualSums;
  const remainingSums = new Map(actualSums);
  add(remainingSums, payoutOfRefund.credit, -payoutOfRefund.amount);
  add(
    remainingSums,
    payoutOfRefund.debit.replace(':inbound:', ':rail_in_transit:'),
    payoutOfRefund.amount,
  );
  return remainingSums;
}

/** The return of a funding debit after the payment is charged to the payer separately. */
const isDebitReturn = ({ row }: Payment, { step }: Transfer): boolean =>
  row.type === 'OUTGOING' &&
  !isInternalAccount(row.source_account) &&
  (step === 'return' || step === 'return.owed');

function differenceOf(
  { status, funds }: RecordedRow,
  expectedSums: Sums,
  actualSums: Sums,
): string | undefined {
  const [expectedText, actualText] = [textOf(expectedSums), textOf(actualSums)];
  if (expectedText === actualText) return undefined;
  return `is ${status}, funds ${funds}; it transferred [${actualText}], not [${expectedText}]`;
}

/** Reports a payment whose transfers differ from the expected sum. */
export function effectProblem(model: Model, payment: Payment): string | undefined {
  const { row, transfers } = payment;
  const environment = model.platforms.get(row.platform_id ?? '')?.environment ?? 'sandbox';
  if (row.type === 'CARD')
    return differenceOf(
      row,
      cardEffect(row, environment),
      effectOf(attributeToAccount(row, transfers)),
    );
  const isOutgoing = row.type === 'OUTGOING';
  const expectedSums = isOutgoing
    ? outgoingEffect(row, environment)
    : incomingEffect(row, environment);
  // Daily usage of a platform or an agent is counted in units of separate currency codes.
  const paymentTransfers = transfers.filter(
    (transfer) => !transfer.currency.startsWith('velocity.') && !isDebitReturn(payment, transfer),
  );
  const actualSums = removeRefundCredit(effectOf(attributeDebts(paymentTransfers, row)), payment);
  return differenceOf(row, expectedSums, actualSums);
}
