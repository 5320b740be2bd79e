// Actions of agents. Their transfers and quotes execute, wait for approval or are rejected. Their
// platforms decide by the action, by its transaction, or by both concurrently. The effect of each
// policy is predicted.
import { debitOutcome, outcomeOf } from '../../harness/outcomes.ts';
import { lacksPermission, policyOf, predictVerdict } from '../../harness/policies.ts';
import {
  type Agent,
  type ApiResponse,
  type ExternalAccount,
  type InternalAccount,
  isActive,
  type Order,
  type PendingAction,
  type Person,
  type Platform,
  type Sim,
  spendableAmount,
  violation,
} from '../../harness/sim.ts';
import {
  type Action,
  bodyOf,
  checkReply,
  isInSandbox,
  PAYMENT_CURRENCIES,
  pickInternalAccount,
  rejectionCode,
} from '../action.ts';
import { connectedAgents } from '../payments/agents.ts';
import {
  hasDeletedParty,
  orderOf,
  possibleErrors,
  QUOTE_ERRORS,
  TRANSFER_ERRORS,
} from '../payments/payments.ts';
import { executionCodes, recordExecuted, requiresScaIn, UNAUTHORIZED } from './authorizations.ts';

/** Usually an agent that is not paused. */
function chooseAgent(sim: Sim, isSuitable = (_: Agent) => true): Agent & { client: Platform } {
  const allAgents = connectedAgents(sim);
  const activeAgents = allAgents.filter(
    (agent) => isSuitable(agent) && !policyOf(sim, agent).paused,
  );
  return sim.chance.pick(activeAgents.length && sim.chance.percent(90) ? activeAgents : allAgents);
}

const externalAccountsOf = (sim: Sim, person: Person) =>
  sim.externalAccounts.filter(
    (externalAccount) => externalAccount.owner === person && !externalAccount.isDeleted,
  );

/** Checks the status of an agent's action. Records the action if it waits for approval. */
function recordAction(
  sim: Sim,
  agent: Agent,
  order: Order,
  { id, status }: ApiResponse['body'],
  verdict: ReturnType<typeof predictVerdict>,
): string {
  const expectedStatus = verdict === 'approval required' ? 'PENDING_APPROVAL' : 'APPROVED';
  if (verdict && status !== expectedStatus)
    throw violation(`${id} of ${agent.id} is ${status}, not ${expectedStatus}`);
  if (status === 'PENDING_APPROVAL') sim.pendingActions.push({ id, agent, order });
  return status;
}

/** Transaction ID of an action. The reply omits the transaction while the action waits. */
async function transactionOf(sim: Sim, actionId: string): Promise<string> {
  const text = 'select transaction_id as id from agent_actions where id = $1';
  const { rows } = await sim.client.query<{ id: string }>(text, [actionId]);
  return rows[0]?.id ?? '';
}

async function createTransfer(sim: Sim, direction: 'out' | 'in'): Promise<string> {
  const isSuitable = ({ currency }: ExternalAccount) => direction === 'out' || currency === 'USD';
  const agent = chooseAgent(sim, ({ owner }) => externalAccountsOf(sim, owner).some(isSuitable));
  const { owner } = agent;
  const suitableAccounts = externalAccountsOf(sim, owner).filter(isSuitable);
  if (suitableAccounts.length === 0) return 'no destination';
  const externalAccount = sim.chance.pick(suitableAccounts);
  const internalAccount = owner.internalAccounts.get(externalAccount.currency) as InternalAccount;
  const amount = BigInt(sim.chance.integerBetween(100, sim.chance.pick([5_000, 50_000])));
  const accounts = [{ accountId: internalAccount.id }, { accountId: externalAccount.id }];
  const [source, destination] = direction === 'out' ? accounts : accounts.reverse();
  const body = { source, destination, amount: Number(amount), purposeOfPayment: 'GIFT' };
  const { currency } = internalAccount;
  const request = { permission: 'CREATE_TRANSFERS', account: internalAccount.id, amount, currency };
  const verdict = predictVerdict(sim, agent, request);
  const amountBefore = spendableAmount(sim, internalAccount);
  const path = `/agents/me/transfer-${direction}`;
  const response = await sim.call('POST', path, body, agent.client);
  const requiresSca = direction === 'out' && requiresScaIn(owner, currency);
  const isFrozen = !isActive(sim, internalAccount);
  const codes =
    verdict === 'rejected' ? ['FORBIDDEN'] : transferCodes(direction, isFrozen, requiresSca);
  const code = rejectionCode(response, codes);
  if (code) return `${externalAccount.currency} ${code}`;
  if (verdict === 'rejected' || requiresSca || isFrozen)
    throw violation(`${path} of ${agent.id} succeeded, expected ${codes.join(' or ')}`);
  const action = bodyOf(response, 201);
  if (action.status === 'APPROVED' && direction === 'out' && amountBefore < amount) {
    throw violation(`${agent.id} spends ${amount} of ${amountBefore} available`);
  }
  const predictedOutcome =
    direction === 'out'
      ? outcomeOf('transfer', externalAccount.suffix)
      : debitOutcome(externalAccount.suffix);
  const order: Order = {
    id: await transactionOf(sim, action.id),
    kind: direction === 'out' ? 'balance' : 'in',
    quoteId: null,
    platform: owner.platform,
    source: direction === 'out' ? internalAccount : null,
    internalAccount: direction === 'in' ? internalAccount : null,
    externalAccount: direction === 'out' ? externalAccount : null,
    ...(direction === 'in' ? { debitedAccount: externalAccount } : {}),
    sentAmount: direction === 'out' ? amount : 0n,
    receivedAmount: amount,
    ...{ platformFee: 0n, feeAccount: null, expiresAt: 0, agent },
    expectedOutcome: isInSandbox(owner) ? predictedOutcome : null,
    isStarted: action.status === 'APPROVED',
    outcomeUnlessStarted: UNAUTHORIZED,
  };
  sim.orders.push(order);
  return `${amount} ${currency} ${recordAction(sim, agent, order, action, verdict)}`;
}

const transferCodes = (
  direction: 'out' | 'in',
  isFrozen: boolean,
  requiresSca: boolean,
): string[] => [
  ...(direction === 'out' ? TRANSFER_ERRORS : []),
  ...(isFrozen ? ['INVALID_INPUT'] : []),
  ...(requiresSca ? ['CONFLICT'] : []),
];

interface Accounts {
  source: InternalAccount;
  internalAccount: InternalAccount | null;
  externalAccount: ExternalAccount | null;
}

function chooseAccounts(sim: Sim, { owner }: Agent): Accounts | undefined {
  const internalAccounts = [...owner.internalAccounts.values()].filter(({ currency }) =>
    PAYMENT_CURRENCIES.includes(currency),
  );
  const fundedAccounts = internalAccounts.filter(
    (internalAccount) => spendableAmount(sim, internalAccount) > 1_000n,
  );
  const source = sim.chance.pick(fundedAccounts.length ? fundedAccounts : internalAccounts);
  const ownExternalAccounts = externalAccountsOf(sim, owner);
  if (ownExternalAccounts.length && sim.chance.percent(80)) {
    return { source, internalAccount: null, externalAccount: sim.chance.pick(ownExternalAccounts) };
  }
  const internalAccount = pickInternalAccount(sim, owner, PAYMENT_CURRENCIES);
  return internalAccount === source
    ? undefined
    : { source, internalAccount, externalAccount: null };
}

async function createQuote(sim: Sim): Promise<string> {
  const agent = chooseAgent(sim);
  const { owner } = agent;
  const accounts = chooseAccounts(sim, agent);
  if (!accounts) return 'no destination';
  const { source, internalAccount, externalAccount } = accounts;
  const body = {
    source: { sourceType: 'ACCOUNT', accountId: source.id },
    destination: {
      destinationType: 'ACCOUNT',
      accountId: (internalAccount ?? externalAccount)?.id,
    },
    lockedCurrencySide: 'SENDING',
    lockedCurrencyAmount: sim.chance.integerBetween(100, sim.chance.pick([5_000, 50_000])),
    purposeOfPayment: 'GIFT',
  };
  const allowedIds = policyOf(sim, agent).policy.accountRestrictions?.allowedAccountIds;
  const isRestricted = [source, internalAccount].some(
    (account) => account && allowedIds && !allowedIds.includes(account.id),
  );
  const isForbidden = lacksPermission(sim, agent, 'CREATE_QUOTES') || isRestricted;
  const response = await sim.call('POST', '/agents/me/quotes', body, agent.client);
  if (isForbidden) return checkReply(response, ['FORBIDDEN'], 'a quote of an agent') ?? '';
  const isFrozen = [source, internalAccount].some((account) => account && !isActive(sim, account));
  const code = rejectionCode(
    response,
    isFrozen ? ['INVALID_INPUT', ...QUOTE_ERRORS] : [...QUOTE_ERRORS, ...FEE_ERRORS],
  );
  if (code) return code;
  if (isFrozen)
    throw violation(`${agent.id} received a quote although an account is frozen or closed`);
  const order = orderOf(sim, accounts, bodyOf(response, 201), owner);
  order.agent = agent;
  order.requiresSca = requiresScaIn(owner, source.currency);
  sim.orders.push(order);
  return `${order.sentAmount} ${source.currency} for ${order.receivedAmount}`;
}

/** No fee can be charged while the platform's fee account is frozen or closed. */
const FEE_ERRORS = ['INVALID_INPUT'];

const quotesOf = (sim: Sim) =>
  sim.orders.filter(({ agent, quoteId }) => agent && quoteId && agent.client && !agent.isDeleted);
const unstartedQuotes = (sim: Sim) =>
  quotesOf(sim).filter(({ isStarted, agent }) => !isStarted && !agent?.owner.isDeleted);

const isRequested = (sim: Sim, order: Order) =>
  sim.pendingActions.some((pendingAction) => pendingAction.order === order);

/** Orders that can still be executed. */
const executableQuotes = (sim: Sim) =>
  unstartedQuotes(sim).filter(
    (quote) => sim.effects.now() < quote.expiresAt && !isRequested(sim, quote),
  );

const requestOf = (order: Order) => ({
  permission: order.quoteId ? 'EXECUTE_QUOTES' : 'CREATE_TRANSFERS',
  account: (order.source ?? order.internalAccount)?.id as string,
  amount: order.sentAmount || order.receivedAmount,
  currency: (order.source ?? order.internalAccount)?.currency as string,
});

async function executeQuote(sim: Sim): Promise<string> {
  const quotes = unstartedQuotes(sim);
  const order = sim.chance.pick(
    executableQuotes(sim).length && sim.chance.percent(90) ? executableQuotes(sim) : quotes,
  );
  const agent = order.agent as Agent & { client: Platform };
  const agentRequest = requestOf(order);
  const verdict = predictVerdict(sim, agent, agentRequest);
  const isPermissionMissing = lacksPermission(sim, agent, agentRequest.permission);
  const errors = executionCodes(sim, order);
  // Errors that do not depend on the policy are reported before the policy is checked.
  const errorsBeforePolicy = errors.filter(
    (error) => error === 'CONFLICT' || error === 'QUOTE_EXPIRED',
  );
  const isPreviouslyRequested = isRequested(sim, order);
  const firstErrors = errorsBeforePolicy.length
    ? errorsBeforePolicy
    : isPreviouslyRequested
      ? ['CONFLICT']
      : [];
  // Funds are checked before the accounts, so that spending is counted only for payable orders.
  const currentCodes = hasDeletedParty(order) ? [...errors, 'INSUFFICIENT_FUNDS'] : errors;
  const policyCodes =
    verdict === 'rejected' ? ['FORBIDDEN'] : verdict === 'approval required' ? [] : currentCodes;
  const codes = isPermissionMissing
    ? ['FORBIDDEN']
    : firstErrors.length
      ? firstErrors
      : policyCodes;
  const path = `/agents/me/quotes/${order.quoteId}/execute`;
  const response = await sim.call('POST', path, undefined, agent.client);
  const code = rejectionCode(response, [
    ...codes,
    ...(verdict === 'immediately' ? possibleErrors(order) : []),
  ]);
  if (code) return code;
  if (codes.length) throw violation(`${order.id} was executed, expected ${codes.join(' or ')}`);
  const action = bodyOf(response, 200);
  if (action.status === 'APPROVED') recordExecuted(sim, order, action.quote);
  return `${order.sentAmount} ${recordAction(sim, agent, order, action, verdict)}`;
}

/** Whether a waiting action can be executed now, or undefined if it cannot be predicted. */
function canExecute(sim: Sim, { agent, order }: PendingAction): boolean | undefined {
  if (agent.owner.isDeleted || predictVerdict(sim, agent, requestOf(order)) === 'rejected')
    return false;
  if (order.debitedAccount?.isDeleted) return false;
  const internalAccount = order.source ?? order.internalAccount;
  if (internalAccount && !isActive(sim, internalAccount)) return false;
  if (order.kind === 'in') return true;
  // A transfer has no expiry.
  const orderWithoutExpiry = order.quoteId
    ? order
    : { ...order, expiresAt: Number.POSITIVE_INFINITY };
  if (executionCodes(sim, orderWithoutExpiry).length) return false;
  return possibleErrors(order).length ? undefined : true;
}

/** Whether the customer must resolve the error before the execution. */
const isResolvedByCustomer = (code: string) =>
  ['SCA_SESSION_REQUIRED', 'ACCOUNT_LOCKED'].includes(code);

const DECIDED_CODES = ['CONFLICT', 'TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL'];

/** The platform's decision, by the action or by its transaction. */
async function decideAction(sim: Sim, decision: 'approve' | 'reject'): Promise<string> {
  const requestedAction = sim.chance.pick(sim.pendingActions);
  const { id, agent, order } = requestedAction;
  const isByAction = sim.chance.percent(50);
  const path = isByAction
    ? `/agents/${agent.id}/actions/${id}/${decision}`
    : `/transactions/${order.id}/${decision}`;
  const isExecutable = canExecute(sim, requestedAction);
  const response = await sim.call('POST', path, {}, order.platform);
  // An exhausted daily limit of the platform or a required login of the customer leaves the action
  // waiting.
  const isLimited = order.platform.hadDailyLimit && decision === 'approve';
  const temporaryCodes = [
    ...(isLimited ? ['DAILY_VOLUME_LIMIT_EXCEEDED'] : []),
    ...(decision === 'approve' ? executionCodes(sim, order).filter(isResolvedByCustomer) : []),
  ];
  // The transaction of a quote does not show that the approval failed.
  const isFailureHidden =
    !isByAction && decision === 'approve' && order.quoteId !== null && isExecutable !== true;
  const code = rejectionCode(
    response,
    agent.isDeleted || isFailureHidden ? [...DECIDED_CODES, ...temporaryCodes] : temporaryCodes,
  );
  if (code && temporaryCodes.includes(code)) return code;
  sim.pendingActions.splice(sim.pendingActions.indexOf(requestedAction), 1);
  if (code && !agent.isDeleted && (await statusOf(sim, id)) !== 'FAILED') {
    throw violation(
      `the approval of ${id} by its transaction: ${code}, expected the status FAILED`,
    );
  }
  if (agent.isDeleted && !code) throw violation(`${id} was decided after its agent was deleted`);
  // Deleting an agent rejects all its waiting actions.
  if (code) return `${decision}: ${code}`;
  const { status } = bodyOf(response, 200);
  const finalStatus = isByAction ? status : await statusOf(sim, id);
  if (decision === 'reject') {
    if (finalStatus !== 'REJECTED') throw violation(`${id} was rejected and is ${finalStatus}`);
    return `${decision}: ${finalStatus}`;
  }
  const expectedStatus = isExecutable ? 'APPROVED' : 'FAILED';
  if (isExecutable !== undefined && finalStatus !== expectedStatus)
    throw violation(`${id} was approved: ${finalStatus}, not ${expectedStatus}`);
  if (finalStatus === 'APPROVED') await recordApproval(sim, order);
  return `${decision}: ${finalStatus}`;
}

async function statusOf(sim: Sim, actionId: string): Promise<string> {
  const text = 'select status from agent_actions where id = $1';
  const { rows } = await sim.client.query<{ status: string }>(text, [actionId]);
  return rows[0]?.status ?? '';
}

async function recordApproval(sim: Sim, order: Order): Promise<void> {
  if (!order.quoteId) {
    order.isStarted = true;
    return;
  }
  const path = `/quotes/${order.quoteId}`;
  recordExecuted(sim, order, bodyOf(await sim.call('GET', path, undefined, order.platform), 200));
}

/** Approves by the action and by its transaction concurrently. One approval succeeds. */
async function decideTwice(sim: Sim): Promise<string> {
  const executableActions = sim.pendingActions.filter(
    (pendingAction) => !pendingAction.agent.isDeleted && canExecute(sim, pendingAction) === true,
  );
  if (executableActions.length === 0) return 'none';
  const requestedAction = sim.chance.pick(executableActions);
  const { id, agent, order } = requestedAction;
  for (const node of sim.nodes) node.setTrap(undefined);
  const paths = [`/agents/${agent.id}/actions/${id}/approve`, `/transactions/${order.id}/approve`];
  const responses = await Promise.all(
    sim.nodes.map((node, index) =>
      sim.sendOnce(node, {
        ...{ method: 'POST', path: paths[index] as string, body: {}, platform: order.platform },
        key: `concurrent-${sim.nextNumber()}`,
      }),
    ),
  );
  sim.pendingActions.splice(sim.pendingActions.indexOf(requestedAction), 1);
  const codes = responses.map((response) => response?.body?.code ?? response?.status);
  const rejections = codes.filter((code) => DECIDED_CODES.includes(code));
  if (rejections.length !== 1 || !codes.includes(200))
    throw violation(`${id} was not approved exactly once: ${codes.join()}`);
  if ((await statusOf(sim, id)) !== 'APPROVED') throw violation(`${id} was not approved`);
  await recordApproval(sim, order);
  return 'approved once';
}

const hasConnectedAgent = (sim: Sim) => connectedAgents(sim).length > 0;
const hasPendingAction = (sim: Sim) => sim.pendingActions.length > 0;

export const AGENT_ACTIONS: readonly Action[] = [
  {
    name: 'an agent transfers out',
    weight: 8,
    isPossible: hasConnectedAgent,
    run: (sim) => createTransfer(sim, 'out'),
  },
  {
    name: 'an agent transfers in',
    weight: 5,
    isPossible: hasConnectedAgent,
    run: (sim) => createTransfer(sim, 'in'),
  },
  { name: 'an agent creates a quote', weight: 9, isPossible: hasConnectedAgent, run: createQuote },
  {
    name: 'an agent executes a quote',
    weight: 20,
    isPossible: (sim) => executableQuotes(sim).length > 0,
    run: executeQuote,
  },
  {
    name: 'approve an agent action',
    weight: 10,
    isPossible: hasPendingAction,
    run: (sim) => decideAction(sim, 'approve'),
  },
  {
    name: 'reject an agent action',
    weight: 3,
    isPossible: hasPendingAction,
    run: (sim) => decideAction(sim, 'reject'),
  },
  {
    name: 'approve an agent action concurrently',
    weight: 5,
    isPossible: hasPendingAction,
    run: decideTwice,
  },
];
