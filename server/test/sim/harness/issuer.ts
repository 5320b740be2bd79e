// The card issuer of the simulation. It calls the authorization handler on any server, over a
// connection that may break. The result of each message is predicted from the state of the card,
// its holder and the funding account. Predictions follow the specification, independently of the
// code under test.
import type { CardNotice } from '../../../src/connectors/ports/cards.ts';
import { connectorRegistry, custodyKeysOf } from '../../../src/connectors/registry.ts';
import { cardNetworkHandler } from '../../../src/features/cards/index.ts';
import { assertNever } from '../../../src/kernel/assert-never.ts';
import type { ChangeSet, Outcome } from '../../../src/runtime/committer/change-set.ts';
import type { Runtime } from '../../../src/runtime/operation/operate.ts';
import { accountOf, type Facts, factsOf, unitsIn } from '../model/card-facts.ts';
import type { RecordedRow } from '../model/model.ts';
import type { Node } from './node.ts';
import { type Person, type Sim, violation } from './sim.ts';

/** Behavior of the database connection at the first commit of a message. */
export type Connection = 'stable' | 'slow' | 'fails before' | 'fails after';

const connectionError = () =>
  Object.assign(new Error('the connection broke'), { code: 'OUTCOME_UNKNOWN' });

/** A server whose database connection fails once, or responds after five milliseconds. */
function withConnection(sim: Sim, { app }: Node, connection: Connection): Runtime {
  const { committer } = app.runtime;
  let isFirstCommit = true;
  async function commit(set: ChangeSet): Promise<Outcome> {
    const behavior = isFirstCommit ? connection : 'stable';
    isFirstCommit = false;
    if (behavior === 'fails before') throw connectionError();
    const outcome = await committer.commit(set);
    if (behavior === 'slow') sim.effects.advance(5);
    if (behavior === 'fails after') throw connectionError();
    return outcome;
  }
  return connection === 'stable' ? app.runtime : { ...app.runtime, committer: { commit } };
}

/** The authorization handler that a sandbox issuer calls. */
export function handlerOf(sim: Sim, node: Node, connection: Connection = 'stable') {
  for (const node of sim.nodes) node.setTrap(undefined);
  const runtime = withConnection(sim, node, connection);
  const custodyKeys = custodyKeysOf(runtime.vault);
  const connectors = connectorRegistry(sim.effects, { custodyKeys });
  return cardNetworkHandler(runtime, { connectors, origin: () => 'http://localhost' }, 'sandbox');
}

export const holderOf = ({ people }: Sim, { customer_id: id }: RecordedRow): Person | undefined =>
  people.find((person) => person.id === id && !person.isDeleted);

const fundingOf = ({ funding }: RecordedRow): string[] => JSON.parse(funding ?? '[]');
export const firstFundingSource = (card: RecordedRow): string => fundingOf(card)[0] as string;

/** The delegated key of a card at an account. */
function signerOf({ model }: Sim, cardId: string, account: string): RecordedRow | undefined {
  const { bindings, keys } = model.cardRecords;
  const openBinding = [...(bindings.get(cardId)?.values() ?? [])].find(
    (binding) => binding.account_id === account && !binding.ended_at,
  );
  return [...(keys.get(cardId)?.values() ?? [])].find(
    (key) => key.funding_source_id === openBinding?.id && key.status === 'ACTIVE',
  );
}

/** Available amount of an account, or undefined if it cannot pay. */
function payableAmount(sim: Sim, cardId: string, account: string): bigint | undefined {
  const row = sim.model.internal.get(account);
  const ledgerAccount = sim.model.accounts.get(account);
  if (row?.status !== 'ACTIVE' || row.owed !== '0' || !ledgerAccount) return undefined;
  const canSign = row.type !== 'EMBEDDED_WALLET' || signerOf(sim, cardId, account);
  return canSign ? ledgerAccount.balance - ledgerAccount.held : undefined;
}

export interface CardInput {
  kind: string;
  amount: bigint;
  currency: string;
  descriptor: string;
}

const isCredit = (kind: string) => kind.includes('CREDIT');

/** `approved`, or the decline reason. */
export function predictDecision(sim: Sim, card: RecordedRow, requestInput: CardInput): string {
  const { kind, amount, currency, descriptor } = requestInput;
  const isAdjustment = kind === 'CREDIT_AUTHORIZATION_ADVICE';
  if (card.state !== 'ACTIVE' && card.state !== 'FROZEN') return 'CARD_NOT_ACTIVE';
  if (card.state === 'FROZEN' && !isAdjustment) return 'CARD_PAUSED';
  if (descriptor.endsWith('002')) return 'INSUFFICIENT_FUNDS';
  if (descriptor.endsWith('003')) return 'CARD_PAUSED';
  if (currency !== 'USD') return 'CURRENCY_NOT_SUPPORTED';
  if (!holderOf(sim, card)) return 'CARDHOLDER_NOT_READY';
  if (isAdjustment) return 'approved';
  const account = firstFundingSource(card);
  const { status, currency: unit = null } = sim.model.internal.get(account) ?? {};
  if (isCredit(kind)) return status === 'CLOSED' ? 'NO_FUNDING_SOURCE' : 'approved';
  if (card.max_spend && amount > BigInt(card.max_spend)) return 'SPEND_LIMIT_EXCEEDED';
  const availableAmount = payableAmount(sim, card.id as string, account);
  if (availableAmount === undefined) return 'NO_FUNDING_SOURCE';
  return amount * unitsIn({ sent_currency: unit }) > availableAmount
    ? 'INSUFFICIENT_FUNDS'
    : 'approved';
}

/** A notice of the network about a payment. */
export interface NoticeInput {
  kind: CardNotice['kind'];
  amount: bigint;
}

const OPEN_STATUSES = ['AUTHORIZED', 'PARTIALLY_SETTLED'];

/**
 * Whether the notice contradicts the payment. The sandbox accepts only notices that the state of
 * the payment permits.
 */
export function isContradictory(
  row: RecordedRow,
  { kind, amount }: NoticeInput,
  isInSandbox: boolean,
): boolean {
  const { direction, authorizedAmount, settledAmount, refundedAmount, returns } = factsOf(row);
  const isOpen = OPEN_STATUSES.includes(row.status as string);
  switch (kind) {
    case 'RETURN':
      return direction === 'CREDIT' || amount > settledAmount - refundedAmount;
    case 'RETURN_REVERSAL':
      return isInSandbox ? row.status !== 'REFUNDED' : returns.length === 0;
    case 'AUTHORIZATION_ADVICE':
      return direction === 'CREDIT' || (isInSandbox && !isOpen);
    case 'AUTHORIZATION_REVERSAL':
      return isOpen ? amount > authorizedAmount - settledAmount : isInSandbox;
    case 'CLEARING':
    case 'AUTHORIZATION_EXPIRY':
      return isInSandbox && !isOpen;
    default:
      return assertNever(kind, 'card notice');
  }
}

/** Amount to debit in addition to the earlier debits. */
function amountToDebit(facts: Facts, { kind, amount }: NoticeInput): bigint {
  const {
    confirmedAmount,
    pendingAmount,
    stuckAmount,
    releasedAmount,
    writtenOffAmount,
    settledAmount,
    authorizedAmount,
  } = facts;
  const coveredAmount =
    confirmedAmount + pendingAmount + stuckAmount - releasedAmount + writtenOffAmount;
  const minimumOf = (a: bigint, b: bigint) => (a < b ? a : b);
  const shortfall =
    kind === 'CLEARING'
      ? minimumOf(amount, settledAmount + amount - coveredAmount)
      : minimumOf(amount - authorizedAmount, amount - coveredAmount);
  return shortfall > 0n && facts.direction === 'DEBIT' ? shortfall : 0n;
}

const debitsOf = ({ debits }: Facts) => debits.map(({ amount, status }) => `${amount} ${status}`);

/** Checks the changes of a payment by a notice. */
export function checkNotice(
  sim: Sim,
  before: RecordedRow,
  after: RecordedRow,
  notice: NoticeInput,
): void {
  const [factsBefore, factsAfter] = [factsOf(before), factsOf(after)];
  // A clearing applies also to a closed payment. A new authorized amount does not.
  const debitingKinds = factsBefore.isClosed ? ['CLEARING'] : ['CLEARING', 'AUTHORIZATION_ADVICE'];
  const isDebitRequired = debitingKinds.includes(notice.kind) && notice.amount > 0n;
  const neededAmount = isDebitRequired ? amountToDebit(factsBefore, notice) : 0n;
  const card = sim.model.cardRecords.cards.get(factsBefore.cardId);
  // A card of a deleted holder is about to be closed.
  const isClosed = card?.state === 'CLOSED' || !holderOf(sim, before);
  const availableAmount = payableAmount(sim, factsBefore.cardId, accountOf(before));
  const canPay = availableAmount !== undefined && neededAmount * unitsIn(before) <= availableAmount;
  const isWrittenOff = isClosed && notice.kind === 'CLEARING';
  const debits = debitsOf(factsBefore);
  // An adjustment that cannot be held is debited at the clearing.
  const isDebitRequested = canPay || notice.kind === 'CLEARING';
  if (neededAmount > 0n && !isClosed && isDebitRequested)
    debits.push(`${neededAmount} ${canPay ? 'PENDING' : 'FAILED'}`);
  const expectedFacts = {
    debits: debits.join(),
    writtenOff: factsBefore.writtenOffAmount + (isWrittenOff ? neededAmount : 0n),
  };
  const actualFacts = {
    debits: debitsOf(factsAfter).join(),
    writtenOff: factsAfter.writtenOffAmount,
  };
  if (
    expectedFacts.debits !== actualFacts.debits ||
    expectedFacts.writtenOff !== actualFacts.writtenOff
  ) {
    const [actualDebits, expectedDebits] = [
      `${actualFacts.debits}; written off ${actualFacts.writtenOff}`,
      `${expectedFacts.debits}; written off ${expectedFacts.writtenOff}`,
    ];
    const subject = `${after.id}, after ${notice.kind} ${notice.amount}`;
    throw violation(`${subject}: debits ${actualDebits}, not ${expectedDebits}`);
  }
  const hasException =
    before.status === 'EXCEPTION' ||
    (neededAmount > 0n && !isClosed && isDebitRequested && !canPay);
  if ((after.status === 'EXCEPTION') !== hasException) {
    const expected = hasException ? 'EXCEPTION' : 'no exception';
    const subject = `${after.id}, after ${notice.kind} ${notice.amount}`;
    throw violation(`${subject}, is ${after.status}, expected ${expected}`);
  }
}
