// Incoming funds: debits of bank accounts, deposits for quotes in requested and other amounts, and
// UMA payments with the platform's consent. Banks and operators change some payments later.

import { transitionInternalAccount } from '../../../../src/features/balances/internal-accounts/lifecycle.ts';
import { internalAccounts } from '../../../../src/features/balances/internal-accounts/store.ts';
import {
  releaseDeposit,
  returnHeldDeposit,
  reverseDeposit,
} from '../../../../src/features/payments/pay-ins/index.ts';
import { readCurrent } from '../../../../src/features/payments/payouts/payout-jobs.ts';
import { receiveFunds } from '../../../../src/features/payments/quotes/index.ts';
import { asIncoming } from '../../../../src/features/payments/transactions/rows.ts';
import { onBehalfOf } from '../../harness/operator.ts';
import { debitOutcome, type Outcome } from '../../harness/outcomes.ts';
import {
  type ApiResponse,
  type ExternalAccount,
  type InternalAccount,
  isActive,
  type Order,
  type Person,
  type Sim,
  violation,
} from '../../harness/sim.ts';
import type { RecordedRow } from '../../model/model.ts';
import {
  type Action,
  activePeople,
  bodyOf,
  isInSandbox,
  PAYMENT_CURRENCIES,
  payers,
  pickInternalAccount,
  rejectionCode,
} from '../action.ts';
import { internalAccountById } from '../issuing/settling.ts';
import { areFeesBlocked, hasDeletedParty, orderOf, QUOTE_ERRORS } from '../payments/payments.ts';

const NO_AMOUNTS = {
  sentAmount: 0n,
  receivedAmount: 0n,
  platformFee: 0n,
  feeAccount: null,
  source: null,
} as const;

/** An expected incoming payment, compared after settling. */
export function expectIncoming(
  sim: Sim,
  creditedAccount: InternalAccount,
  id: string,
  amount: bigint,
  expectedOutcome: Outcome | null,
): void {
  sim.orders.push({
    ...NO_AMOUNTS,
    ...{
      id,
      kind: 'in',
      quoteId: null,
      platform: creditedAccount.owner.platform,
      internalAccount: creditedAccount,
      externalAccount: null,
    },
    ...{ receivedAmount: amount, expectedOutcome: expectedOutcome, isStarted: true, expiresAt: 0 },
  });
}

const usdAccountsOf = (sim: Sim, owner: Person) =>
  sim.externalAccounts.filter(
    (externalAccount) =>
      externalAccount.owner === owner &&
      externalAccount.currency === 'USD' &&
      !externalAccount.isDeleted,
  );

export async function transferIn(sim: Sim, owners = payers(sim)): Promise<string> {
  const owner = sim.chance.pick(owners);
  const ownExternalAccounts = usdAccountsOf(sim, owner);
  if (ownExternalAccounts.length === 0) return 'no source';
  const debitedAccount = sim.chance.pick(ownExternalAccounts);
  const creditedAccount = owner.internalAccounts.get('USD') as InternalAccount;
  const amount = sim.chance.integerBetween(100, 90_000);
  const body = {
    source: { accountId: debitedAccount.id },
    destination: { accountId: creditedAccount.id },
    amount,
  };
  const response = await sim.call('POST', '/transfer-in', body, owner.platform);
  if (!isActive(sim, creditedAccount)) return `${rejectionCode(response, ['INVALID_INPUT'])}`;
  const { id } = bodyOf(response, 201);
  expectIncoming(
    sim,
    creditedAccount,
    id,
    BigInt(amount),
    isInSandbox(owner) ? debitOutcome(debitedAccount.suffix) : null,
  );
  return `${amount} from …${debitedAccount.suffix}`;
}

interface Target {
  internalAccount: InternalAccount | null;
  externalAccount: ExternalAccount | null;
}

/** An internal account on the same platform, or an external account of the payer. */
export function chooseTarget(sim: Sim, payer: Person): Target {
  const ownExternalAccounts = sim.externalAccounts.filter(
    (externalAccount) => externalAccount.owner === payer && !externalAccount.isDeleted,
  );
  if (ownExternalAccounts.length && sim.chance.percent(60))
    return { internalAccount: null, externalAccount: sim.chance.pick(ownExternalAccounts) };
  const otherPeople = activePeople(sim).filter((person) => person.platform === payer.platform);
  return {
    internalAccount: pickInternalAccount(sim, sim.chance.pick(otherPeople), PAYMENT_CURRENCIES),
    externalAccount: null,
  };
}

async function quoteFrom(
  sim: Sim,
  payer: Person,
  source: { sourceType: string; currency?: string },
  kind: 'debit' | 'realtime',
): Promise<Order | string> {
  const target = chooseTarget(sim, payer);
  const { internalAccount: toAccount, externalAccount } = target;
  const body = {
    source,
    destination: { destinationType: 'ACCOUNT', accountId: (toAccount ?? externalAccount)?.id },
    lockedCurrencySide: sim.chance.pick(['SENDING', 'RECEIVING']),
    lockedCurrencyAmount: sim.chance.integerBetween(100, 60_000),
    purposeOfPayment: 'GIFT',
  };
  const response = await sim.call('POST', '/quotes', body, payer.platform);
  const isFrozen = toAccount !== null && !isActive(sim, toAccount);
  const codes = ['SELF_PAYMENT', ...QUOTE_ERRORS];
  const isBlocked = isFrozen || areFeesBlocked(sim, payer, source.currency ?? 'USD');
  const code = rejectionCode(response, isBlocked ? ['INVALID_INPUT', ...codes] : codes);
  if (code) return code;
  if (isFrozen)
    throw violation(`a quote to ${toAccount.id} was created although it is frozen or closed`);
  const order = orderOf(sim, { source: null, ...target }, bodyOf(response, 201), payer);
  sim.orders.push(order);
  order.kind = kind;
  if (payer.platform.hadDailyLimit || target.externalAccount?.wallet) order.expectedOutcome = null;
  return order;
}

export async function quoteDebit(sim: Sim, owners = payers(sim)): Promise<string> {
  const payer = sim.chance.pick(owners);
  const ownExternalAccounts = usdAccountsOf(sim, payer);
  if (ownExternalAccounts.length === 0) return 'no source';
  const debitedAccount = sim.chance.pick(ownExternalAccounts);
  const source = { sourceType: 'ACCOUNT', accountId: debitedAccount.id };
  const order = await quoteFrom(sim, payer, source, 'debit');
  if (typeof order === 'string') return order;
  order.debitedAccount = debitedAccount;
  const expectedOutcome = debitOutcome(debitedAccount.suffix);
  if (!isInSandbox(payer)) order.expectedOutcome = null;
  else if (expectedOutcome.status === 'FAILED') order.expectedOutcome = expectedOutcome;
  return `${order.sentAmount} from …${debitedAccount.suffix}`;
}

async function quoteRealtime(sim: Sim): Promise<string> {
  const payer = sim.chance.pick(payers(sim));
  const currency = sim.chance.pick(['USD', 'EUR', 'MXN', 'USDC']);
  const source = {
    sourceType: 'REALTIME_FUNDING',
    currency,
    ...(payer.id ? { customerId: payer.id } : {}),
    ...(currency === 'USDC' ? { cryptoNetwork: 'BASE' } : {}),
  };
  const order = await quoteFrom(sim, payer, source, 'realtime');
  if (typeof order === 'string') return order;
  order.payer = payer;
  return `${order.sentAmount} ${currency}`;
}

export const depositQuotes = (sim: Sim) => sim.orders.filter((order) => order.kind === 'realtime');
const sandboxDepositQuotes = (sim: Sim) => depositQuotes(sim).filter(isInSandbox);

const RETURNED_OUTCOME: Outcome = { status: 'FAILED', refund: 'COMPLETED' };

/** Records a deposit that does not match its quote. Its outcome is not predicted. */
export function recordUnmatched(sim: Sim, body: ApiResponse['body'], amount: bigint): string {
  const destination = internalAccountById(sim, body.destination?.accountId);
  if (destination && body.status !== 'FAILED')
    expectIncoming(sim, destination, body.id, amount, null);
  return `unmatched, ${body.status}`;
}

/**
 * Records a deposit for a payment. The outcome is not predicted if an account is frozen or closed,
 * a party is deleted, or the platform had a daily limit.
 */
export function recordDeposit(sim: Sim, order: Order): void {
  const { internalAccount: toAccount, feeAccount: feeOwnerAccount, payer, platform } = order;
  const accounts = [toAccount, order.platformFee ? feeOwnerAccount : null];
  const isFrozen = accounts.some((account) => account && !isActive(sim, account));
  if (isFrozen || hasDeletedParty(order) || payer?.isDeleted || platform.hadDailyLimit)
    order.expectedOutcome = null;
}

/** A deposit for a quote, with the requested amount, too little, too much, late or repeated. */
async function sendDeposit(sim: Sim): Promise<string> {
  const depositOrders = sandboxDepositQuotes(sim);
  const order = sim.chance.percent(70)
    ? (depositOrders.at(-1) as Order)
    : sim.chance.pick(depositOrders);
  const row = sim.model.payments.get(order.id)?.row;
  const difference = sim.chance.pick([0n, 0n, 0n, 0n, -1n, 7n]);
  const amount =
    order.sentAmount + difference > 0n ? order.sentAmount + difference : order.sentAmount;
  const isExact = amount === order.sentAmount;
  const body = {
    quoteId: order.quoteId,
    currencyCode: row?.sent_currency,
    ...(isExact ? {} : { currencyAmount: Number(amount) }),
  };
  const receivedPayment = bodyOf(
    await sim.call('POST', '/sandbox/send', body, order.platform),
    200,
  );
  if (receivedPayment.id !== order.id) return recordUnmatched(sim, receivedPayment, amount);
  if (order.isStarted) throw violation(`${order.id} was paid twice`);
  order.isStarted = true;
  recordDeposit(sim, order);
  if (!isExact && order.expectedOutcome) order.expectedOutcome = RETURNED_OUTCOME;
  return `${amount} of ${order.sentAmount}`;
}

const SENDERS = ['$success.usd', '$success.eur', '$pending.long.usd', '$fail.compliance.usd'];

const receivers = (sim: Sim) =>
  payers(sim).filter((person) => person.id !== null && isInSandbox(person));

/** An incoming UMA payment, which the platform may reject. */
async function receiveUma(sim: Sim): Promise<string> {
  const receiver = sim.chance.pick(receivers(sim));
  const currency = sim.chance.pick(['USD', 'EUR', 'MXN']);
  const amount = sim.chance.integerBetween(1, 50_000);
  const body = {
    senderUmaAddress: `${sim.chance.pick(SENDERS)}@sandbox.uma.money`,
    customerId: receiver.id,
    receivingCurrencyCode: currency,
    receivingCurrencyAmount: amount,
  };
  const creditedAccount = receiver.internalAccounts.get(currency) as InternalAccount;
  const response = await sim.call('POST', '/sandbox/uma/receive', body, receiver.platform);
  const codes = [
    'WEBHOOK_ENDPOINT_NOT_SET',
    ...(isActive(sim, creditedAccount) ? [] : ['INVALID_CURRENCY']),
  ];
  const code = rejectionCode(response, codes);
  if (code) return code;
  expectIncoming(sim, creditedAccount, bodyOf(response, 200).id, BigInt(amount), null);
  return `${amount} ${currency}`;
}

export const incomingOrders = (sim: Sim) =>
  sim.orders.filter((order) => order.kind === 'in' && order.isStarted);

async function decideUma(sim: Sim, decision: 'approve' | 'reject'): Promise<string> {
  const order = sim.chance.pick(incomingOrders(sim));
  const path = `/transactions/${order.id}/${decision}`;
  const info = { FULL_NAME: 'Ada Lovelace', BIRTH_DATE: '1990-01-15', NATIONALITY: 'US' };
  const body = decision === 'approve' ? { receiverCustomerInfo: info } : {};
  const codes = ['TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL', 'MISSING_MANDATORY_USER_INFO'];
  return rejectionCode(await sim.call('POST', path, body, order.platform), codes) ?? 'done';
}

/** Requests a cancellation of a payment that may be in progress. */
async function cancelPayment(sim: Sim): Promise<string> {
  const order = sim.chance.pick(sim.orders);
  const path = `/transactions/${order.id}/cancel`;
  const codes = ['INVALID_INPUT', 'TRANSACTION_NOT_CANCELLABLE'];
  const code = rejectionCode(await sim.call('POST', path, undefined, order.platform), codes);
  if (code === undefined) order.expectedOutcome = null;
  return code ?? 'requested';
}

/** An operator freezes or unfreezes an account. */
async function setFreeze(sim: Sim, isUnfreeze: boolean): Promise<string> {
  const allAccounts = activePeople(sim).flatMap((person) => [...person.internalAccounts.values()]);
  const status = isUnfreeze ? 'FROZEN' : 'ACTIVE';
  const matchingAccounts = allAccounts.filter(
    (internalAccount) => sim.model.internal.get(internalAccount.id)?.status === status,
  );
  if (matchingAccounts.length === 0) return 'none';
  const internalAccount = sim.chance.pick(matchingAccounts);
  await onBehalfOf(sim, internalAccount.owner.platform, async (ctx) => {
    const row = await ctx.read(internalAccounts, internalAccount.id);
    if (!row) throw violation(`${internalAccount.id} does not exist`);
    const cause = { actor: 'operator', reason: 'simulated' };
    transitionInternalAccount(ctx, row, isUnfreeze ? 'unfreeze' : 'freeze', cause);
  });
  for (const order of sim.orders) {
    const isAffected =
      order.internalAccount === internalAccount || order.feeAccount === internalAccount;
    if (order.kind !== 'balance' && isAffected) order.expectedOutcome = null;
  }
  return internalAccount.currency;
}

/** A bank deposit to an account in any state. */
async function depositFromBank(sim: Sim): Promise<string> {
  const internalAccount = pickInternalAccount(
    sim,
    sim.chance.pick(activePeople(sim).filter(isInSandbox)),
    PAYMENT_CURRENCIES,
  );
  const amount = BigInt(sim.chance.integerBetween(1, 50_000));
  const notice = { accountId: internalAccount.id, currency: internalAccount.currency, amount };
  const row = await onBehalfOf(sim, internalAccount.owner.platform, (ctx) =>
    receiveFunds(ctx, notice),
  );
  expectIncoming(sim, internalAccount, row.id, amount, null);
  return `${amount} ${internalAccount.currency}, ${row.status}`;
}

/** Sandbox deposits that match the condition. */
const sandboxDeposits = (sim: Sim, matches: (row: RecordedRow) => boolean) =>
  incomingOrders(sim).filter((order) => {
    const row = sim.model.payments.get(order.id)?.row;
    return isInSandbox(order) && row?.source_account === null && matches(row);
  });

/** An operator releases or returns a held deposit. */
async function decideHeldDeposit(sim: Sim): Promise<string> {
  const heldDeposits = sandboxDeposits(
    sim,
    ({ funds, status }) => funds === 'HELD' && status === 'PENDING',
  );
  if (heldDeposits.length === 0) return 'none';
  const order = sim.chance.pick(heldDeposits);
  const isRelease = sim.chance.percent(50);
  const row = await onBehalfOf(sim, order.platform, async (ctx) => {
    const incomingPayment = await readCurrent(ctx, order.id, asIncoming);
    return isRelease
      ? releaseDeposit(ctx, incomingPayment)
      : returnHeldDeposit(ctx, incomingPayment);
  });
  if (row.status !== (isRelease ? 'COMPLETED' : 'FAILED'))
    throw violation(`${order.id} was ${isRelease ? 'released' : 'returned'} and is ${row.status}`);
  return row.status;
}

/** A bank reverses a deposit, regardless of whether it was spent. */
async function reverseBankDeposit(sim: Sim): Promise<string> {
  const deposits = sandboxDeposits(sim, ({ status }) => status === 'COMPLETED');
  if (deposits.length === 0) return 'none';
  const order = sim.chance.pick(deposits);
  const row = await onBehalfOf(sim, order.platform, async (ctx) => {
    const incomingPayment = await readCurrent(ctx, order.id, asIncoming);
    return reverseDeposit(ctx, incomingPayment);
  });
  return `${order.receivedAmount}, ${row.status}`;
}

const hasPayer = (sim: Sim) => payers(sim).length > 0;
const hasIncomingOrder = (sim: Sim) => incomingOrders(sim).length > 0;

export const INCOMING: readonly Action[] = [
  { name: 'transfer in', weight: 5, isPossible: hasPayer, run: (sim) => transferIn(sim) },
  {
    name: 'create a quote with a funding debit',
    weight: 4,
    isPossible: hasPayer,
    run: (sim) => quoteDebit(sim),
  },
  { name: 'create a quote for a deposit', weight: 7, isPossible: hasPayer, run: quoteRealtime },
  {
    name: 'deposit for a quote',
    weight: 7,
    isPossible: (sim) => sandboxDepositQuotes(sim).length > 0,
    run: sendDeposit,
  },
  {
    name: 'receive over UMA',
    weight: 5,
    isPossible: (sim) => receivers(sim).length > 0,
    run: receiveUma,
  },
  {
    name: 'approve a UMA payment',
    weight: 2,
    isPossible: hasIncomingOrder,
    run: (sim) => decideUma(sim, 'approve'),
  },
  {
    name: 'reject a UMA payment',
    weight: 1,
    isPossible: hasIncomingOrder,
    run: (sim) => decideUma(sim, 'reject'),
  },
  {
    name: 'cancel a payment',
    weight: 3,
    isPossible: (sim) => sim.orders.length > 0,
    run: cancelPayment,
  },
  { name: 'freeze an account', weight: 0.8, run: (sim) => setFreeze(sim, false) },
  { name: 'unfreeze an account', weight: 1.6, run: (sim) => setFreeze(sim, true) },
  { name: 'deposit from a bank', weight: 4, isPossible: hasPayer, run: depositFromBank },
  { name: 'reverse a deposit', weight: 2, isPossible: hasIncomingOrder, run: reverseBankDeposit },
  {
    name: 'decide on a held deposit',
    weight: 2,
    isPossible: hasIncomingOrder,
    run: decideHeldDeposit,
  },
];
