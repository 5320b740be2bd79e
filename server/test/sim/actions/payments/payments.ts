// Funding and outgoing payments. Quotes of every kind are executed once, twice and too late.
// Transfers remain within one currency.
import { outcomeOf } from '../../harness/outcomes.ts';
import {
  type ApiResponse,
  accountRow,
  type ExternalAccount,
  type InternalAccount,
  isActive,
  type Order,
  type Person,
  type Sim,
  spendableAmount,
  violation,
} from '../../harness/sim.ts';
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

async function fundAccount(sim: Sim): Promise<string> {
  const internalAccount = pickInternalAccount(
    sim,
    sim.chance.pick(activePeople(sim).filter(isInSandbox)),
    PAYMENT_CURRENCIES,
  );
  const amount = sim.chance.integerBetween(1, sim.chance.pick([100, 100_000, 1_000_000]));
  const path = `/sandbox/internal-accounts/${internalAccount.id}/fund`;
  const response = await sim.call('POST', path, { amount }, internalAccount.owner.platform);
  if (!isActive(sim, internalAccount)) return `${rejectionCode(response, ['INVALID_INPUT'])}`;
  if (!internalAccount.owner.mayPay) return `${rejectionCode(response, ['USER_NOT_READY'])}`;
  bodyOf(response, 200);
  internalAccount.expectedBalance += BigInt(amount);
  return `${amount} ${internalAccount.currency}`;
}

interface Accounts {
  source: InternalAccount | null;
  internalAccount: InternalAccount | null;
  externalAccount: ExternalAccount | null;
}

type FromInternalAccount = Accounts & { source: InternalAccount };

/** Usually an account with funds, because most payments from other accounts would fail. */
function chooseSource(sim: Sim, payer: Person): InternalAccount {
  const fundedCurrencies = PAYMENT_CURRENCIES.filter((currency) => {
    const internalAccount = payer.internalAccounts.get(currency);
    return internalAccount && spendableAmount(sim, internalAccount) > 1_000n;
  });
  return pickInternalAccount(
    sim,
    payer,
    fundedCurrencies.length && sim.chance.percent(85) ? fundedCurrencies : PAYMENT_CURRENCIES,
  );
}

/**
 * A source and a destination, or undefined without a destination. The destination is an external
 * account of the payer or an internal account on the same platform.
 */
function chooseAccounts(sim: Sim, payer: Person): FromInternalAccount | undefined {
  const source = chooseSource(sim, payer);
  if (sim.chance.percent(70)) {
    const ownExternalAccounts = sim.externalAccounts.filter(
      (externalAccount) => externalAccount.owner === payer && !externalAccount.isDeleted,
    );
    return ownExternalAccounts.length
      ? { source, internalAccount: null, externalAccount: sim.chance.pick(ownExternalAccounts) }
      : undefined;
  }
  const otherPeople = activePeople(sim).filter((person) => person.platform === payer.platform);
  const toAccount = pickInternalAccount(sim, sim.chance.pick(otherPeople), [
    ...PAYMENT_CURRENCIES,
    'INR',
    'BTC',
  ]);
  return toAccount === source
    ? undefined
    : { source, internalAccount: toAccount, externalAccount: null };
}

/** Possible error codes of a quote between existing parties. */
export const QUOTE_ERRORS = [
  'AMOUNT_OUT_OF_RANGE',
  'TRANSACTION_SIZE_LIMIT_EXCEEDED',
  'DAILY_VOLUME_LIMIT_EXCEEDED',
  'INSUFFICIENT_FUNDS',
  'USER_NOT_READY',
  'NOT_IMPLEMENTED',
  'EXTERNAL_ACCOUNT_VERIFICATION_REQUIRED',
];

/** Whether the platform's fee account is frozen or closed, so that no fee can be charged. */
export function areFeesBlocked(sim: Sim, { platform }: Person, currency: string): boolean {
  const platformOwner = sim.people.find(
    (person) => person.id === null && person.platform === platform,
  );
  const internalAccount = platformOwner?.internalAccounts.get(currency);
  return internalAccount !== undefined && !isActive(sim, internalAccount);
}

function quoteBody(
  sim: Sim,
  { source, internalAccount: toAccount, externalAccount }: FromInternalAccount,
  isImmediate: boolean,
): object {
  const { chance } = sim;
  const hasFeeOverride = source.currency === 'USD' && chance.percent(20);
  return {
    source: { sourceType: 'ACCOUNT', accountId: source.id },
    destination: { destinationType: 'ACCOUNT', accountId: (toAccount ?? externalAccount)?.id },
    lockedCurrencySide: chance.pick(['SENDING', 'RECEIVING']),
    lockedCurrencyAmount: chance.integerBetween(1, chance.pick([300, 50_000, 400_000])),
    purposeOfPayment: 'GIFT',
    ...(isImmediate ? { immediatelyExecute: true } : {}),
    ...(hasFeeOverride
      ? {
          platformFeeOverride: {
            platformFixedFee: { amount: chance.integerBelow(40), currency: 'USD' },
            platformVariableFeeBps: chance.integerBelow(200),
          },
        }
      : {}),
  };
}

export function orderOf(
  sim: Sim,
  accounts: Accounts,
  body: ApiResponse['body'],
  payer: Person,
): Order {
  const { externalAccount, internalAccount: toAccount, source } = accounts;
  const platformOwner = sim.people.find(
    (person) => person.id === null && person.platform === payer.platform,
  );
  return {
    id: body.transactionId,
    kind: 'balance',
    quoteId: body.id,
    platform: payer.platform,
    source,
    internalAccount: toAccount,
    externalAccount,
    sentAmount: BigInt(body.totalSendingAmount),
    receivedAmount: BigInt(body.totalReceivingAmount),
    platformFee: BigInt(body.platformFeesIncluded ?? 0),
    feeAccount: platformOwner?.internalAccounts.get(body.sendingCurrency.code) ?? null,
    expectedOutcome:
      externalAccount && !isInSandbox(payer)
        ? null
        : outcomeOf('quote', externalAccount?.suffix ?? null),
    isStarted: false,
    expiresAt: Date.parse(body.expiresAt),
  };
}

export async function createQuote(
  sim: Sim,
  isImmediate: boolean,
  owners = payers(sim),
): Promise<string> {
  const payer = sim.chance.pick(owners);
  const accounts = chooseAccounts(sim, payer);
  if (!accounts) return 'no destination';
  const request = quoteBody(sim, accounts, isImmediate);
  const spendableBefore = spendableAmount(sim, accounts.source);
  const response = await sim.call('POST', '/quotes', request, payer.platform);
  const internalAccounts = [accounts.source, accounts.internalAccount].flatMap(
    (account) => account ?? [],
  );
  const isFrozen = internalAccounts.some((internalAccount) => !isActive(sim, internalAccount));
  const isBlocked = isFrozen || areFeesBlocked(sim, payer, accounts.source.currency);
  const code = rejectionCode(
    response,
    isBlocked ? ['INVALID_INPUT', ...QUOTE_ERRORS] : QUOTE_ERRORS,
  );
  if (code) return code;
  if (isFrozen)
    throw violation(`${payer.id} received a quote although an account is frozen or closed`);
  const order = orderOf(sim, accounts, bodyOf(response, 201), payer);
  order.isStarted = isImmediate;
  sim.orders.push(order);
  // A platform that pays itself charges itself no fee.
  const fee = order.feeAccount === order.source ? order.platformFee : 0n;
  if (isImmediate && order.sentAmount - fee > spendableBefore)
    throw violation(`${order.id} spends more than the balance`);
  return `${order.sentAmount} ${accounts.source.currency} for ${order.receivedAmount}`;
}

export const hasDeletedParty = ({
  internalAccount: toAccount,
  externalAccount,
  source,
  debitedAccount,
}: Order) =>
  [
    source?.owner,
    toAccount?.owner,
    externalAccount,
    externalAccount?.owner,
    debitedAccount,
    debitedAccount?.owner,
  ].some((party) => party?.isDeleted);

/** Accounts of deleted customers are closed, so that INVALID_INPUT is possible. */
const DELETION_CODES = [
  'ACCOUNT_NOT_FOUND',
  'CUSTOMER_NOT_FOUND',
  'CUSTOMER_DELETED',
  'INVALID_INPUT',
];

/** Predicted error codes of executing an order. */
export function executionErrors(sim: Sim, order: Order, isStarted: boolean): string[] {
  const status = sim.model.payments.get(order.id)?.row.status;
  if (isStarted) return ['CONFLICT'];
  if (status === 'EXPIRED' || sim.effects.now() >= order.expiresAt) return ['QUOTE_EXPIRED'];
  return startErrors(sim, order);
}

/** Predicted error codes of the start of a payment. */
export function startErrors(sim: Sim, order: Order): string[] {
  if (hasDeletedParty(order)) return DELETION_CODES;
  if ([order.source, order.internalAccount].some((account) => account && !isActive(sim, account))) {
    return ['INVALID_INPUT'];
  }
  const chargedAccount = order.platformFee > 0n ? order.feeAccount : null;
  if (chargedAccount && !isActive(sim, chargedAccount)) return ['INVALID_INPUT'];
  if (order.source && accountRow(sim, order.source)?.owed !== '0') return ['INSUFFICIENT_FUNDS'];
  const neededAmount =
    order.feeAccount === order.source ? order.sentAmount - order.platformFee : order.sentAmount;
  if (order.source && spendableAmount(sim, order.source) < neededAmount)
    return ['INSUFFICIENT_FUNDS'];
  return [];
}

/** Error codes that are possible but not certain. */
export const possibleErrors = ({ platform, externalAccount }: Order): string[] => [
  ...(platform.hadDailyLimit ? ['DAILY_VOLUME_LIMIT_EXCEEDED'] : []),
  ...(externalAccount?.wallet ? ['EXTERNAL_ACCOUNT_VERIFICATION_REQUIRED'] : []),
];

export async function executeOrder(sim: Sim, order: Order): Promise<string> {
  const codes = executionErrors(sim, order, order.isStarted);
  const path = `/quotes/${order.quoteId}/execute`;
  const response = await sim.call('POST', path, undefined, order.platform);
  const code = rejectionCode(response, [...codes, ...possibleErrors(order)]);
  if (code) return code;
  bodyOf(response, 200);
  if (codes.length) throw violation(`${order.id} was executed, expected ${codes.join(' or ')}`);
  order.isStarted = true;
  return `${order.sentAmount}`;
}

const createdQuotes = (sim: Sim) =>
  sim.orders.filter(
    ({ quoteId, kind, payload, requiresSca, agent }) =>
      quoteId !== null && kind !== 'realtime' && !payload && !requiresSca && !agent,
  );
const unstartedQuotes = (sim: Sim) => createdQuotes(sim).filter((quote) => !quote.isStarted);
const startedQuotes = (sim: Sim) => createdQuotes(sim).filter((quote) => quote.isStarted);

/** Possible error codes of a transfer between existing parties. */
export const TRANSFER_ERRORS = [...QUOTE_ERRORS, 'INVALID_CURRENCY'];

/**
 * Network fee on Base in the sandbox, in minor units of USDC: 650 billion wei at 3,500 USD an
 * ether.
 */
const BASE_NETWORK_FEE = 2_275;

export async function transferOut(sim: Sim, owners = payers(sim)): Promise<string> {
  const payer = sim.chance.pick(owners);
  const ownExternalAccounts = sim.externalAccounts.filter(
    (externalAccount) => externalAccount.owner === payer && !externalAccount.isDeleted,
  );
  if (ownExternalAccounts.length === 0) return 'no destination';
  const externalAccount = sim.chance.pick(ownExternalAccounts);
  const source = payer.internalAccounts.get(externalAccount.currency) as InternalAccount;
  const amount = sim.chance.integerBetween(1, sim.chance.pick([300, 50_000]));
  const spendableBefore = spendableAmount(sim, source);
  const body = {
    source: { accountId: source.id },
    destination: { accountId: externalAccount.id },
    amount,
    purposeOfPayment: 'GIFT',
  };
  const response = await sim.call('POST', '/transfer-out', body, payer.platform);
  const isFrozen = !isActive(sim, source);
  const code = rejectionCode(
    response,
    isFrozen ? ['INVALID_INPUT', ...TRANSFER_ERRORS] : TRANSFER_ERRORS,
  );
  if (code) return code;
  if (isFrozen)
    throw violation(`a transfer from ${source.id} succeeded although it is frozen or closed`);
  const { id, receivedAmount } = bodyOf(response, 201);
  if (spendableBefore < BigInt(amount))
    throw violation(`${id} spends ${amount} of ${spendableBefore} available`);
  const deliveredAmount = amount - (externalAccount.currency === 'USDC' ? BASE_NETWORK_FEE : 0);
  if (receivedAmount.amount !== deliveredAmount)
    throw violation(`${id} delivers ${receivedAmount.amount}, not ${deliveredAmount}`);
  const amounts = {
    sentAmount: BigInt(amount),
    receivedAmount: BigInt(deliveredAmount),
    platformFee: 0n,
  };
  const expectedOutcome = isInSandbox(payer) ? outcomeOf('transfer', externalAccount.suffix) : null;
  sim.orders.push({
    ...{
      id,
      kind: 'balance',
      quoteId: null,
      platform: payer.platform,
      source,
      internalAccount: null,
      externalAccount,
    },
    ...{
      ...amounts,
      feeAccount: null,
      expectedOutcome: expectedOutcome,
      isStarted: true,
      expiresAt: 0,
    },
  });
  return `${amount} ${source.currency}`;
}

export const PAYMENT_ACTIONS: readonly Action[] = [
  { name: 'fund an account', weight: 12, run: fundAccount },
  {
    name: 'create a quote',
    weight: 14,
    isPossible: (sim) => payers(sim).length > 0,
    run: (sim) => createQuote(sim, false),
  },
  {
    name: 'create and execute a quote',
    weight: 4,
    isPossible: (sim) => payers(sim).length > 0,
    run: (sim) => createQuote(sim, true),
  },
  {
    name: 'execute a quote',
    weight: 16,
    isPossible: (sim) => unstartedQuotes(sim).length > 0,
    run: (sim) => executeOrder(sim, sim.chance.pick(unstartedQuotes(sim))),
  },
  {
    name: 'execute the latest quote',
    weight: 8,
    isPossible: (sim) => unstartedQuotes(sim).length > 0,
    run: (sim) => executeOrder(sim, unstartedQuotes(sim).at(-1) as Order),
  },
  {
    name: 'execute a quote again',
    weight: 2,
    isPossible: (sim) => startedQuotes(sim).length > 0,
    run: (sim) => executeOrder(sim, sim.chance.pick(startedQuotes(sim))),
  },
  {
    name: 'transfer out',
    weight: 8,
    isPossible: (sim) => payers(sim).length > 0,
    run: (sim) => transferOut(sim),
  },
];
