// Payments under strong authentication. The customer authorizes a quote correctly, wrongly, late,
// twice or never. A payment to a trusted account is exempt. A payment of a customer without a login
// session is rejected.

import type { Outcome } from '../../harness/outcomes.ts';
import {
  type ApiResponse,
  type ExternalAccount,
  type InternalAccount,
  isActive,
  type Order,
  type Sim,
  spendableAmount,
  violation,
} from '../../harness/sim.ts';
import { challengesOf, pendingChallengeOf } from '../../model/authentication.ts';
import {
  type Action,
  activePeople,
  bodyOf,
  checkReply,
  isTrusted,
  PAYMENT_CURRENCIES,
  pickInternalAccount,
  rejectionCode,
} from '../action.ts';
import {
  executionErrors,
  orderOf,
  possibleErrors,
  QUOTE_ERRORS,
  startErrors,
} from '../payments/payments.ts';
import {
  CODE,
  codeOf,
  IP_ADDRESS,
  isLocked,
  isLoggedIn,
  PROOF_VARIANTS,
  type ProofVariant,
  type StrongCustomer,
  strongCustomers,
} from '../payments/strong.ts';
import { chooseTarget } from './incoming.ts';

const SCA_CURRENCIES = ['EUR', 'USDC'];

/** The outcome of a payment that its customer did not authorize. */
export const UNAUTHORIZED: Outcome = { status: 'FAILED', refund: 'NONE' };

/** Whether payments in this currency require strong authentication. */
export const requiresScaIn = (
  owner: { strongAuthentication?: unknown },
  currency: string,
): boolean => owner.strongAuthentication !== undefined && SCA_CURRENCIES.includes(currency);

const rowOf = ({ model }: Sim, { id }: Order) => model.payments.get(id)?.row;
const isWaiting = (sim: Sim, order: Order) => rowOf(sim, order)?.status === 'PENDING_AUTHORIZATION';

const ownerOf = ({ source, payer }: Order) => (source?.owner ?? payer) as StrongCustomer;

/** Records a waiting payment. The reply must have a challenge and no payment instructions. */
function recordWaiting(order: Order, body: ApiResponse['body']): void {
  order.requiresSca = true;
  order.outcomeUnlessStarted = UNAUTHORIZED;
  const { status, scaChallenge, paymentInstructions } = body;
  if (status !== 'PENDING_AUTHORIZATION' || !scaChallenge) {
    throw violation(`${order.id} does not wait with a challenge: ${JSON.stringify(body)}`);
  }
  const hasInstructions = order.kind === 'realtime' && paymentInstructions.length > 0;
  if (hasInstructions) throw violation(`${order.id} has payment instructions before authorization`);
}

/** Usually a customer who can authorize. */
function choosePayer(sim: Sim): StrongCustomer {
  const customers = strongCustomers(sim);
  const readyCustomers = customers.filter(
    (customer) => isLoggedIn(sim, customer) && !isLocked(sim, customer),
  );
  return sim.chance.pick(
    readyCustomers.length && sim.chance.percent(85) ? readyCustomers : customers,
  );
}

interface Accounts {
  source: InternalAccount;
  internalAccount: InternalAccount | null;
  externalAccount: ExternalAccount | null;
}

function chooseAccounts(sim: Sim, payer: StrongCustomer): Accounts | undefined {
  const fundedAccounts = [...payer.internalAccounts.values()].filter(
    (internalAccount) =>
      PAYMENT_CURRENCIES.includes(internalAccount.currency) &&
      spendableAmount(sim, internalAccount) > 1_000n,
  );
  const source = fundedAccounts.length
    ? sim.chance.pick(fundedAccounts)
    : pickInternalAccount(sim, payer, SCA_CURRENCIES);
  const ownExternalAccounts = sim.externalAccounts.filter(
    (externalAccount) => externalAccount.owner === payer && !externalAccount.isDeleted,
  );
  if (ownExternalAccounts.length && sim.chance.percent(75)) {
    return { source, internalAccount: null, externalAccount: sim.chance.pick(ownExternalAccounts) };
  }
  const otherPeople = activePeople(sim).filter((person) => person.platform === payer.platform);
  const internalAccount = pickInternalAccount(
    sim,
    sim.chance.pick(otherPeople),
    PAYMENT_CURRENCIES,
  );
  return internalAccount === source
    ? undefined
    : { source, internalAccount, externalAccount: null };
}

async function createQuote(sim: Sim): Promise<string> {
  const payer = choosePayer(sim);
  const accounts = chooseAccounts(sim, payer);
  if (!accounts) return 'no destination';
  const { source, internalAccount, externalAccount } = accounts;
  const isImmediate = sim.chance.percent(20);
  const body = {
    source: { sourceType: 'ACCOUNT', accountId: source.id },
    destination: {
      destinationType: 'ACCOUNT',
      accountId: (internalAccount ?? externalAccount)?.id,
    },
    lockedCurrencySide: 'SENDING',
    lockedCurrencyAmount: sim.chance.integerBetween(1, sim.chance.pick([300, 50_000, 400_000])),
    purposeOfPayment: 'GIFT',
    ...(isImmediate ? { immediatelyExecute: true } : {}),
  };
  const response = await sim.call('POST', '/quotes', body, payer.platform);
  const requiresSca = requiresScaIn(payer, source.currency);
  const isSessionMissing = isImmediate && requiresSca && !isLoggedIn(sim, payer);
  const isFrozen = [source, internalAccount].some((account) => account && !isActive(sim, account));
  const isOwnerLocked = isImmediate && requiresSca && isLocked(sim, payer);
  const code = rejectionCode(response, [
    ...QUOTE_ERRORS,
    ...(isFrozen ? ['INVALID_INPUT'] : []),
    ...(isSessionMissing ? ['SCA_SESSION_REQUIRED'] : []),
    ...(isOwnerLocked ? ['ACCOUNT_LOCKED'] : []),
  ]);
  if (code) return code;
  if (isOwnerLocked) throw violation(`${source.id} received a quote although its owner is locked`);
  if (isFrozen || isSessionMissing)
    throw violation(
      `${source.id} received a quote although ` +
        (isFrozen ? 'an account is frozen or closed' : 'its owner has no login session'),
    );
  const order = orderOf(sim, accounts, bodyOf(response, 201), payer);
  order.requiresSca = requiresSca;
  if (isImmediate && requiresSca && !isTrusted(sim, externalAccount))
    recordWaiting(order, response.body);
  else order.isStarted = isImmediate;
  sim.orders.push(order);
  return `${order.sentAmount} ${source.currency} for ${order.receivedAmount}`;
}

async function quoteRealtime(sim: Sim): Promise<string> {
  const payer = choosePayer(sim);
  const currency = sim.chance.pick(SCA_CURRENCIES);
  const target = chooseTarget(sim, payer);
  const { internalAccount, externalAccount } = target;
  const body = {
    source: {
      sourceType: 'REALTIME_FUNDING',
      currency,
      customerId: payer.id,
      ...(currency === 'USDC' ? { cryptoNetwork: 'BASE' } : {}),
    },
    destination: {
      destinationType: 'ACCOUNT',
      accountId: (internalAccount ?? externalAccount)?.id,
    },
    lockedCurrencySide: 'SENDING',
    lockedCurrencyAmount: sim.chance.integerBetween(100, 60_000),
    purposeOfPayment: 'GIFT',
  };
  const response = await sim.call('POST', '/quotes', body, payer.platform);
  const isFrozen = internalAccount !== null && !isActive(sim, internalAccount);
  const isSessionMissing = !isLoggedIn(sim, payer);
  const isOwnerLocked = isLocked(sim, payer);
  const code = rejectionCode(response, [
    ...['SELF_PAYMENT', ...QUOTE_ERRORS],
    ...(isFrozen ? ['INVALID_INPUT'] : []),
    ...(isSessionMissing ? ['SCA_SESSION_REQUIRED'] : []),
    ...(isOwnerLocked ? ['ACCOUNT_LOCKED'] : []),
  ]);
  if (code) return code;
  if (isOwnerLocked) throw violation(`${payer.id} is locked and received a quote`);
  if (isFrozen || isSessionMissing)
    throw violation(
      `${payer.id} received a quote ` +
        (isFrozen ? 'to a frozen or closed account' : 'without a login session'),
    );
  const isExempt = isTrusted(sim, externalAccount);
  const createdQuote = bodyOf(response, isExempt ? 201 : 202);
  const order = orderOf(sim, { source: null, ...target }, createdQuote, payer);
  Object.assign(order, { kind: 'realtime', payer, requiresSca: true });
  if (payer.platform.hadDailyLimit || externalAccount?.wallet) order.expectedOutcome = null;
  if (!isExempt) recordWaiting(order, createdQuote);
  sim.orders.push(order);
  return `${order.sentAmount} ${currency}${isExempt ? ', trusted' : ''}`;
}

const isExecutable = ({ requiresSca, kind, quoteId, agent }: Order) =>
  requiresSca === true && kind !== 'realtime' && quoteId !== null && !agent;

/** Predicted error codes of executing a quote. */
export function executionCodes(sim: Sim, order: Order): string[] {
  const status = rowOf(sim, order)?.status;
  const isStarted = order.isStarted || status === 'PENDING_AUTHORIZATION' || status === 'FAILED';
  const codes = executionErrors(sim, order, isStarted);
  if (['CONFLICT', 'QUOTE_EXPIRED'].includes(codes[0] ?? '') || codes.length > 1) return codes;
  const owner = ownerOf(order);
  if (order.requiresSca && isLocked(sim, owner)) return ['ACCOUNT_LOCKED'];
  return order.requiresSca && !isLoggedIn(sim, owner) ? ['SCA_SESSION_REQUIRED'] : codes;
}

/** Records the result of an executed quote. */
export function recordExecuted(sim: Sim, order: Order, body: ApiResponse['body']): void {
  if (order.requiresSca && !isTrusted(sim, order.externalAccount)) {
    recordWaiting(order, body);
    return;
  }
  if (body.status === 'PENDING_AUTHORIZATION')
    throw violation(`${order.id} waits for an authorization that it does not require`);
  order.isStarted = true;
}

async function executeQuote(sim: Sim, order: Order): Promise<string> {
  const codes = executionCodes(sim, order);
  const path = `/quotes/${order.quoteId}/execute`;
  const response = await sim.call('POST', path, undefined, order.platform);
  const possibleCodes = possibleErrors(order);
  const code = rejectionCode(response, [...codes, ...possibleCodes]);
  if (code) return code;
  if (codes.length) throw violation(`${order.id} was executed, expected ${codes.join(' or ')}`);
  recordExecuted(sim, order, bodyOf(response, 200));
  return `${order.sentAmount}${order.isStarted ? '' : ', waits'}`;
}

/** Predicted error codes of a proof. */
function proofCodes(sim: Sim, order: Order, variant: ProofVariant): string[] {
  const owner = ownerOf(order);
  const challenge = pendingChallengeOf(sim.model, order.quoteId as string);
  if (!isWaiting(sim, order) || owner.isDeleted || !challenge) return ['CONFLICT'];
  if (isLocked(sim, owner)) return ['ACCOUNT_LOCKED'];
  if (!isLoggedIn(sim, owner)) return ['SCA_SESSION_REQUIRED'];
  if (sim.effects.now() >= Date.parse(challenge.expires_at as string)) return ['INVALID_INPUT'];
  if (challenge.wrong === '5') return ['RATE_LIMITED'];
  if (!owner.strongAuthentication.phoneVerified || variant === 'wrong') return ['INVALID_INPUT'];
  const isLast = challenge.steps === '[]';
  return isLast && order.kind !== 'realtime' ? startErrors(sim, order) : [];
}

const isLastStep = (sim: Sim, order: Order) =>
  pendingChallengeOf(sim.model, order.quoteId as string)?.steps === '[]';

/** Records the effect of a valid proof. */
function recordProof(
  order: Order,
  isLastProof: boolean,
  { status, ...body }: ApiResponse['body'],
): string {
  if (!isLastProof) {
    recordWaiting(order, { status, ...body });
    return 'a step';
  }
  delete order.outcomeUnlessStarted;
  if (order.kind === 'realtime') {
    const hasInstructions = status === 'PENDING' && body.paymentInstructions.length > 0;
    if (!hasInstructions) throw violation(`${order.id} is ${status} without payment instructions`);
    return 'authorized';
  }
  const isStarted = status === 'PROCESSING' || status === 'COMPLETED';
  if (!isStarted)
    throw violation(`${order.id} was authorized and is ${status}, not PROCESSING or COMPLETED`);
  order.isStarted = true;
  return `${order.sentAmount}`;
}

async function authorizeQuote(sim: Sim, order: Order, variant: ProofVariant): Promise<string> {
  const challenge = pendingChallengeOf(sim.model, order.quoteId as string);
  const expiry = Date.parse(challenge?.expires_at ?? '');
  if (variant === 'late' && expiry > sim.effects.now())
    sim.effects.advance(expiry - sim.effects.now());
  const codes = proofCodes(sim, order, variant);
  const isLast = isLastStep(sim, order);
  const path = `/quotes/${order.quoteId}/authorize`;
  const proof = { code: codeOf(variant), endUserIpAddress: IP_ADDRESS };
  const response = await sim.call('POST', path, proof, order.platform);
  const possibleCodes = isLast ? possibleErrors(order) : [];
  const code = rejectionCode(response, [...codes, ...possibleCodes]);
  if (code) return `${variant}: ${code}`;
  if (codes.length) throw violation(`${order.id} was authorized, expected ${codes.join(' or ')}`);
  return recordProof(order, isLast, bodyOf(response, 200));
}

/** Sends one proof to two servers concurrently, of which one accepts it. */
async function authorizeTwice(sim: Sim): Promise<string> {
  const fittingOrders = ordersWithChallenge(sim).filter(
    (order) =>
      isLastStep(sim, order) &&
      proofCodes(sim, order, 'right').length === 0 &&
      possibleErrors(order).length === 0,
  );
  if (fittingOrders.length === 0) return 'none';
  const order = sim.chance.pick(fittingOrders);
  for (const node of sim.nodes) node.setTrap(undefined);
  const proof = { code: CODE, endUserIpAddress: IP_ADDRESS };
  const path = `/quotes/${order.quoteId}/authorize`;
  const responses = await Promise.all(
    sim.nodes.map((node) =>
      sim.sendOnce(node, {
        ...{ method: 'POST', path, body: proof, platform: order.platform },
        key: `concurrent-${sim.nextNumber()}`,
      }),
    ),
  );
  const successes = responses.filter((response) => response?.status === 200);
  const codes = responses.map((response) => response?.body?.code ?? response?.status);
  const rejections = codes.filter((code) => code === 'CONFLICT' || code === 'INVALID_INPUT');
  if (successes.length !== 1 || rejections.length !== 1)
    throw violation(`${order.id} was not authorized exactly once: ${codes.join()}`);
  return recordProof(order, true, successes[0]?.body);
}

/** Requests the code again, which is rejected within 30 seconds of the latest code. */
async function resendCode(sim: Sim): Promise<string> {
  const order = sim.chance.pick(
    sim.chance.percent(80) && ordersWithChallenge(sim).length
      ? ordersWithChallenge(sim)
      : waitingOrders(sim),
  );
  const challenge = pendingChallengeOf(sim.model, order.quoteId as string);
  const isExpired = sim.effects.now() >= Date.parse(challenge?.expires_at ?? '');
  const codes = !challenge || isExpired || ownerOf(order).isDeleted ? ['CONFLICT'] : [];
  const path = `/quotes/${order.quoteId}/authorize/resend`;
  const response = await sim.call('POST', path, undefined, order.platform);
  const code = rejectionCode(response, [...codes, 'RATE_LIMITED']);
  if (codes.length && !code) throw violation(`${order.id}: a code was sent without a challenge`);
  return code ?? `${bodyOf(response, 204) ?? 'sent'}`;
}

/** A transfer cannot contain a proof, so it is rejected. */
async function transferOut(sim: Sim): Promise<string> {
  const regulatedAccounts = sim.externalAccounts.filter(
    ({ owner, currency, isDeleted }) =>
      !isDeleted && requiresScaIn(owner, currency) && !owner.isDeleted,
  );
  if (regulatedAccounts.length === 0) return 'no destination';
  const { id, currency, owner } = sim.chance.pick(regulatedAccounts);
  const source = owner.internalAccounts.get(currency) as InternalAccount;
  const body = {
    source: { accountId: source.id },
    destination: { accountId: id },
    amount: 10_000,
    purposeOfPayment: 'GIFT',
  };
  const response = await sim.call('POST', '/transfer-out', body, owner.platform);
  const codes = isActive(sim, source) ? ['CONFLICT'] : ['INVALID_INPUT'];
  return checkReply(response, codes, source.id) ?? '';
}

/** Orders that wait for their customers, including orders of agents. */
const waitingOrders = (sim: Sim) =>
  sim.orders.filter((order) => order.requiresSca && isWaiting(sim, order));
/** Orders with a challenge, in any state. */
const challengedOrders = (sim: Sim) =>
  sim.orders.filter(
    (order) =>
      order.requiresSca && order.quoteId && challengesOf(sim.model, rowOf(sim, order) ?? {}).length,
  );
const unstartedOrders = (sim: Sim) =>
  sim.orders.filter((order) => isExecutable(order) && !order.isStarted);

/** Orders that can still be executed. */
const executableOrders = (sim: Sim) =>
  unstartedOrders(sim).filter(
    (order) => rowOf(sim, order)?.status === 'PENDING' && sim.effects.now() < order.expiresAt,
  );

/** Often an order to a trusted account. */
function chooseExecutableOrder(sim: Sim): Order {
  const trustedOrders = executableOrders(sim).filter(({ externalAccount }) =>
    isTrusted(sim, externalAccount),
  );
  return sim.chance.pick(
    trustedOrders.length && sim.chance.percent(50) ? trustedOrders : executableOrders(sim),
  );
}

/** Orders with an open challenge. */
const ordersWithChallenge = (sim: Sim) =>
  waitingOrders(sim).filter((order) => {
    const { expires_at } = pendingChallengeOf(sim.model, order.quoteId as string) ?? {};
    return Date.parse(expires_at ?? '') > sim.effects.now();
  });

const hasStrongCustomers = (sim: Sim) => strongCustomers(sim).length > 0;

export const AUTHORIZATION_ACTIONS: readonly Action[] = [
  {
    name: 'create a quote with strong authentication',
    weight: 11,
    isPossible: hasStrongCustomers,
    run: createQuote,
  },
  {
    name: 'create a deposit quote with strong authentication',
    weight: 3,
    isPossible: hasStrongCustomers,
    run: quoteRealtime,
  },
  {
    name: 'execute a quote with strong authentication',
    weight: 24,
    isPossible: (sim) => executableOrders(sim).length > 0,
    run: (sim) => executeQuote(sim, chooseExecutableOrder(sim)),
  },
  {
    name: 'execute too late or too often',
    weight: 1.5,
    isPossible: (sim) => unstartedOrders(sim).length > 0,
    run: (sim) => executeQuote(sim, sim.chance.pick(unstartedOrders(sim))),
  },
  {
    name: 'authorize',
    weight: 45,
    isPossible: (sim) => ordersWithChallenge(sim).length > 0,
    run: (sim) =>
      authorizeQuote(
        sim,
        sim.chance.pick(ordersWithChallenge(sim)),
        sim.chance.pickWeighted(PROOF_VARIANTS).name,
      ),
  },
  {
    name: 'authorize an earlier quote',
    weight: 3,
    isPossible: (sim) => challengedOrders(sim).length > 0,
    run: (sim) => authorizeQuote(sim, sim.chance.pick(challengedOrders(sim)), 'right'),
  },
  {
    name: 'authorize concurrently',
    weight: 8,
    isPossible: (sim) => ordersWithChallenge(sim).length > 0,
    run: authorizeTwice,
  },
  {
    name: 'send a code again',
    weight: 3,
    isPossible: (sim) => waitingOrders(sim).length > 0,
    run: resendCode,
  },
  {
    name: 'transfer without strong authentication',
    weight: 0.5,
    isPossible: hasStrongCustomers,
    run: transferOut,
  },
];
