// Management of cards by platforms and operators: issuing to eligible and ineligible holders,
// freezing, unfreezing, closing, funding sources, limits and delegated keys. The operator resolves
// card exceptions.

import { holderOf } from '../../harness/issuer.ts';
import { checkOutcome, runVerb } from '../../harness/operator.ts';
import {
  type InternalAccount,
  internalAccountsOf,
  isActive,
  type Person,
  type Sim,
  violation,
} from '../../harness/sim.ts';
import { accountOf, hasPendingFundingDebit } from '../../model/card-facts.ts';
import type { RecordedRow } from '../../model/model.ts';
import { programOf } from '../../rules/card-rules.ts';
import { type Action, activePeople, bodyOf, checkReply, isInSandbox } from '../action.ts';
import { platformIn } from './card-messages.ts';
import { findOrCreateKey } from './holders.ts';
import { signRequest } from './signing.ts';

const cardsOf = ({ model }: Sim) => [...model.cardRecords.cards.values()];
const isOpen = ({ state }: RecordedRow) => state !== 'CLOSED';
const openCards = (sim: Sim) => cardsOf(sim).filter(isOpen);

const holders = (sim: Sim): Person[] =>
  activePeople(sim).filter((person) => person.id !== null && isInSandbox(person));

const FUNDING_CURRENCIES = ['USD', 'USDB'];

/** Accounts of one currency that may fund a card of this person. */
function validSources(sim: Sim, person: Person): InternalAccount[] {
  const fittingAccounts = internalAccountsOf(person).filter((internalAccount) =>
    isActive(sim, internalAccount),
  );
  const accountsByCurrency = FUNDING_CURRENCIES.map((code) =>
    fittingAccounts.filter(({ currency }) => currency === code),
  );
  const nonEmptyLists = accountsByCurrency.filter((accounts) => accounts.length > 0);
  if (nonEmptyLists.length === 0) return [];
  const list = sim.chance.pick(nonEmptyLists);
  return sim.chance.percent(50) ? list : list.toReversed().slice(0, 1);
}

/** Funding sources that are invalid for a random reason. */
function invalidSources(sim: Sim, person: Person): string[] {
  const [validSource] = validSources(sim, person);
  const otherHolder = holders(sim).find((holder) => holder !== person);
  const invalidLists = [
    [person.internalAccounts.get('EUR')?.id],
    [otherHolder?.internalAccounts.get('USD')?.id],
    ['InternalAccount:019b0000-0000-7000-8000-000000000000'],
    [person.internalAccounts.get('USD')?.id, person.internalAccounts.get('USDB')?.id],
    [validSource?.id, person.internalAccounts.get('EUR')?.id],
  ];
  return sim.chance.pick(
    invalidLists.filter((ids) => ids.every((id) => id !== undefined)),
  ) as string[];
}

function chooseSources(sim: Sim, person: Person): { ids: string[]; codes: string[] } {
  const sources = validSources(sim, person);
  if (sources.length && sim.chance.percent(90))
    return { ids: sources.map(({ id }) => id), codes: [] };
  return { ids: invalidSources(sim, person), codes: ['FUNDING_SOURCE_INELIGIBLE'] };
}

const NAME_SUFFIXES = [
  { suffix: '000', weight: 14 },
  { suffix: '001', weight: 1 },
  { suffix: '002', weight: 1 },
  { suffix: '005', weight: 3 },
];

/** Predicted error codes that depend on the rows at the commit. */
function limitErrors(sim: Sim, { id, platform }: Person, name: string): string[] {
  const { openCards: counts } = sim.model.cardRecords;
  const { maxLive, maxLivePerHolder } = programOf(sim.model, platform.id);
  const isAtLimit =
    (counts.get(platform.id) ?? 0) >= maxLive ||
    (counts.get(id as string) ?? 0) >= maxLivePerHolder;
  const isNameUsed = openCards(sim).some(
    (card) => card.platform_id === platform.id && card.platform_card_id === name,
  );
  return [...(isAtLimit ? ['CARD_LIMIT_REACHED'] : []), ...(isNameUsed ? ['CONFLICT'] : [])];
}

async function issueCard(sim: Sim): Promise<string> {
  const readyHolders = holders(sim).filter((holder) => holder.mayPay);
  const person = sim.chance.pick(
    sim.chance.percent(95) && readyHolders.length ? readyHolders : holders(sim),
  );
  const { ids, codes } = chooseSources(sim, person);
  const { suffix } = sim.chance.pickWeighted(NAME_SUFFIXES);
  const [otherCard] = openCards(sim).slice(-1);
  const isRepeated = otherCard && sim.chance.percent(4);
  const platformCardId = isRepeated
    ? (otherCard.platform_card_id as string)
    : `card-${sim.nextNumber()}-${suffix}`;
  const body = {
    ...{ cardholderId: person.id, platformCardId, form: 'VIRTUAL', fundingSources: ids },
    ...(sim.chance.percent(20)
      ? { maxSpendPerTransaction: sim.chance.integerBetween(500, 9_000) }
      : {}),
  };
  const response = await sim.call('POST', '/cards', body, person.platform);
  const holderCodes = person.mayPay ? [] : ['CARDHOLDER_KYC_NOT_APPROVED'];
  const allCodes = [holderCodes, codes, limitErrors(sim, person, platformCardId)].find(
    (errorCodes) => errorCodes.length,
  );
  const code = checkReply(response, allCodes ?? [], `a card of ${person.id}`);
  if (code) return code;
  const { state } = bodyOf(response, 201);
  if (state !== 'PROCESSING') throw violation(`a card is ${state} at creation, not PROCESSING`);
  return `${suffix} for ${sim.people.indexOf(person)}`;
}

type Change = Record<string, unknown>;

function chooseChange(sim: Sim, card: RecordedRow): { body: Change; codes: string[] } {
  const { chance } = sim;
  const state = chance.pickWeighted([
    { name: card.state === 'FROZEN' ? 'ACTIVE' : 'FROZEN', weight: 30 },
    { name: 'CLOSED', weight: 7 },
    { name: 'ACTIVE', weight: 3 },
    { name: undefined, weight: 30 },
  ]).name;
  const person = holderOf(sim, card);
  const hasSourceChange = person && state !== 'CLOSED' && chance.percent(state ? 15 : 60);
  const { ids, codes } = hasSourceChange
    ? chooseSources(sim, person)
    : { ids: undefined, codes: [] };
  const limit = chance.pick([null, null, chance.integerBetween(500, 9_000)]);
  const hasLimitChange = state === undefined && (!ids || chance.percent(20));
  const body = {
    ...(state ? { state } : {}),
    ...(ids ? { fundingSources: ids } : {}),
    ...(hasLimitChange ? { maxSpendPerTransaction: limit } : {}),
  };
  return { body, codes };
}

/** Predicted error codes of a change of state. */
function transitionCodes({ state: from }: RecordedRow, to: unknown): string[] {
  if (from === 'CLOSED') {
    if (to === undefined) return ['CARD_NOT_MUTABLE'];
    return to === 'CLOSED' ? ['CARD_ALREADY_CLOSED'] : ['INVALID_STATE_TRANSITION'];
  }
  if (to === undefined) return [];
  return from === 'PROCESSING' || from === to ? ['INVALID_STATE_TRANSITION'] : [];
}

async function changeCard(sim: Sim): Promise<string> {
  const allOpenCards = openCards(sim);
  const card = sim.chance.pick(
    allOpenCards.length && sim.chance.percent(92) ? allOpenCards : cardsOf(sim),
  );
  const { body, codes } = chooseChange(sim, card);
  const holderErrors = holderOf(sim, card) ? [] : ['CUSTOMER_DELETED'];
  const expectedCodes =
    [transitionCodes(card, body.state), holderErrors, codes].find(
      (errorCodes) => errorCodes.length,
    ) ?? [];
  const path = `/cards/${card.id}`;
  const response = await sim.call('PATCH', path, body, platformIn(sim, card.platform_id));
  const description = `${card.state} ${Object.keys(body)} ${body.state ?? ''}`;
  // The first reply was lost after the change.
  if (response.isRepeated && response.status === 409) return `${description}: repeated`;
  const code = checkReply(response, expectedCodes, `${card.id}: ${description}`);
  if (code) return `${description}: ${code}`;
  bodyOf(response, 200);
  return description;
}

async function closeByOperator(sim: Sim): Promise<string> {
  const card = sim.chance.pick(cardsOf(sim).slice(-20));
  const result = await runVerb(sim, 'cards', 'close', card.id as string, '--reason', 'simulated');
  return checkOutcome(result, isOpen(card), `close ${card.id}`) ?? `${card.state}`;
}

async function setProgram(sim: Sim): Promise<string> {
  const platform = sim.chance.pick(sim.platforms.filter((platform) => isInSandbox({ platform })));
  const [maxLive, maxLivePerHolder] = sim.chance.pick([
    ['3', '1'],
    ['10000', '2'],
    ['10000', '10'],
    ['10000', '10'],
  ]) as [string, string];
  const args = ['--max-live', maxLive, '--max-live-per-holder', maxLivePerHolder];
  checkOutcome(
    await runVerb(sim, 'platform', 'set-cards', platform.id, ...args),
    true,
    platform.id,
  );
  return `${maxLive}, ${maxLivePerHolder} of ${sim.platforms.indexOf(platform)}`;
}

/** Funds an account that is the funding source of a card. */
async function fundCardAccount(sim: Sim): Promise<string> {
  const cardAccounts = openCards(sim).flatMap((card) => {
    const person = holderOf(sim, card);
    const ownAccounts = person ? internalAccountsOf(person) : [];
    const ids: string[] = JSON.parse(card.funding as string);
    return ownAccounts.filter((account) => ids.includes(account.id) && isActive(sim, account));
  });
  if (cardAccounts.length === 0) return 'none';
  const internalAccount = sim.chance.pick(cardAccounts);
  const amount =
    sim.chance.integerBetween(1, 40_000) * (internalAccount.currency === 'USD' ? 1 : 10_000);
  const path = `/sandbox/internal-accounts/${internalAccount.id}/fund`;
  bodyOf(await sim.call('POST', path, { amount }, internalAccount.owner.platform), 200);
  internalAccount.expectedBalance += BigInt(amount);
  return `${amount} ${internalAccount.currency}`;
}

/** Cards that are funded by a wallet, with the wallet. */
const walletFundedCards = (sim: Sim) =>
  openCards(sim).flatMap((card) => {
    const wallet = holderOf(sim, card)?.wallet;
    const isFunding = wallet && JSON.parse(card.funding as string).includes(wallet.id);
    return isFunding && isActive(sim, wallet) ? [{ card, wallet }] : [];
  });

const keysOf = ({ model }: Sim, { id }: RecordedRow): RecordedRow[] => [
  ...(model.cardRecords.keys.get(id as string)?.values() ?? []),
];

async function createKey(sim: Sim): Promise<string> {
  const cardsWithoutKey = walletFundedCards(sim).filter(
    ({ card, wallet }) =>
      !keysOf(sim, card).some((key) => key.account_id === wallet.id && key.status === 'ACTIVE'),
  );
  const { card, wallet } = sim.chance.pick(
    cardsWithoutKey.length ? cardsWithoutKey : walletFundedCards(sim),
  );
  const key = await findOrCreateKey(sim, wallet);
  if (!key) return 'not signed in';
  const body = { cardId: card.id, internalAccountId: wallet.id, nickname: 'Till' };
  const platform = wallet.owner.platform;
  const request = { method: 'POST', path: '/auth/delegated-keys', body, platform };
  const { response, trace } = await signRequest(sim, request, key, 2);
  const code =
    response &&
    checkReply(response, cardsWithoutKey.length ? [] : ['CONFLICT'], `a key for ${card.id}`);
  if (response && !code) bodyOf(response, 201);
  return code ?? trace;
}

const delegatedKeys = (sim: Sim) => cardsOf(sim).flatMap((card) => keysOf(sim, card));

async function revokeKey(sim: Sim): Promise<string> {
  const recentKeys = delegatedKeys(sim).slice(-20);
  const key = sim.chance.pick(recentKeys);
  const card = sim.model.cardRecords.cards.get(key.card_id as string) as RecordedRow;
  const path = `/auth/delegated-keys/${key.id}`;
  const response = await sim.call('DELETE', path, undefined, platformIn(sim, card.platform_id));
  if (response.isRepeated && response.status === 400) return 'already revoked';
  const code = checkReply(response, key.status === 'ACTIVE' ? [] : ['INVALID_INPUT'], path);
  if (!code) bodyOf(response, 204);
  return code ?? 'revoked';
}

/** Whether the account is open and its owner is not deleted. */
function isReachable(sim: Sim, row: RecordedRow): boolean {
  const account = sim.model.internal.get(accountOf(row));
  const isAccountOpen = account?.status === 'ACTIVE' || account?.status === 'FROZEN';
  return isAccountOpen && holderOf(sim, row) !== undefined;
}

/** Resolves an exception. The server rejects the resolution while a debit is in progress. */
export async function resolveException(sim: Sim, row: RecordedRow): Promise<string> {
  const isCollection = sim.chance.percent(50);
  const outcome = isCollection ? 'collect' : 'write-off';
  const result = await runVerb(sim, 'cards', 'resolve', row.id as string, '--outcome', outcome);
  const isPending = hasPendingFundingDebit(row);
  const isAllowed =
    row.status === 'EXCEPTION' && !isPending && (!isCollection || isReachable(sim, row));
  return checkOutcome(result, isAllowed, `${outcome} ${row.id}, ${row.status}`) ?? outcome;
}

const rowsOf = ({ model }: Sim, ids: Iterable<string>): RecordedRow[] =>
  [...ids].flatMap((id) => {
    const row = model.cardRecords.payments.get(id);
    return row ? [row] : [];
  });

export const openExceptions = (sim: Sim) => rowsOf(sim, sim.model.cardRecords.exceptions);
const suspendedPayments = (sim: Sim) => rowsOf(sim, sim.model.cardRecords.suspendedPayments);

async function resolveRandomException(sim: Sim): Promise<string> {
  const exceptions = openExceptions(sim);
  const payments = [...sim.model.cardRecords.payments.values()];
  return resolveException(
    sim,
    sim.chance.pick(exceptions.length && sim.chance.percent(95) ? exceptions : payments),
  );
}

/** Funds returned for a closed account are paid out manually. */
async function payOutSuspended(sim: Sim): Promise<string> {
  const row = sim.chance.pick(suspendedPayments(sim));
  const { rejection } = await runVerb(sim, 'suspense', 'return', `${row.id}`, '--reference', 'R1');
  if (rejection && rejection !== 'The transaction has no funds in suspense.')
    throw violation(`${row.id}: ${rejection}`);
  return rejection ?? 'sent';
}

/** IDs of accounts that card payments have emptied and that have no card payment in progress. */
function emptiedAccountIds({ model }: Sim): string[] {
  const allPayments = [...model.cardRecords.payments.values()];
  const busyAccounts = new Set(
    allPayments.filter(({ funds }) => funds !== 'SETTLED').map(accountOf),
  );
  return [...new Set(allPayments.map(accountOf))].filter((id) => {
    const { balance = 1n, held = 0n } = model.accounts.get(id) ?? {};
    const { status, owed } = model.internal.get(id) ?? {};
    return balance + held === 0n && status === 'ACTIVE' && owed === '0' && !busyAccounts.has(id);
  });
}

/** Closes an account of card payments, to which later refunds cannot be credited. */
async function closeAccount(sim: Sim): Promise<string> {
  const usedAccounts = [...sim.model.cardRecords.payments.values()].map(accountOf);
  const id = sim.chance.pick(sim.chance.percent(85) ? emptiedAccountIds(sim) : usedAccounts);
  const result = await runVerb(sim, 'accounts', 'close', id, '--reason', 'simulated');
  const isUsed = [...sim.model.cardRecords.payments.values()].some(
    (row) => accountOf(row) === id && row.funds !== 'SETTLED',
  );
  if (isUsed && !result.rejection)
    throw violation(`${id} was closed while one of its card payments was in progress`);
  for (const order of sim.orders) {
    const isAffected = order.internalAccount?.id === id || order.feeAccount?.id === id;
    if (order.kind !== 'balance' && isAffected) order.expectedOutcome = null;
  }
  return result.rejection ?? 'closed';
}

const hasCards = (sim: Sim) => cardsOf(sim).length > 0;

export const CARD_ACTIONS: readonly Action[] = [
  { name: 'issue a card', weight: 7, isPossible: (sim) => holders(sim).length > 0, run: issueCard },
  { name: 'change a card', weight: 4, isPossible: hasCards, run: changeCard },
  { name: 'close a card as the operator', weight: 0.3, isPossible: hasCards, run: closeByOperator },
  {
    name: 'limit cards',
    weight: 0.5,
    isPossible: (sim) => sim.platforms.some((platform) => isInSandbox({ platform })),
    run: setProgram,
  },
  {
    name: 'close an account after card payments',
    weight: 4,
    isPossible: (sim) => emptiedAccountIds(sim).length > 0,
    run: closeAccount,
  },
  {
    name: 'fund a card account',
    weight: 8,
    isPossible: (sim) => openCards(sim).length > 0,
    run: fundCardAccount,
  },
  {
    name: 'create a delegated key',
    weight: 4,
    isPossible: (sim) => walletFundedCards(sim).length > 0,
    run: createKey,
  },
  {
    name: 'revoke a delegated key',
    weight: 0.4,
    isPossible: (sim) => delegatedKeys(sim).length > 0,
    run: revokeKey,
  },
  {
    name: 'resolve a card exception',
    weight: 2,
    isPossible: (sim) => sim.model.cardRecords.payments.size > 0,
    run: resolveRandomException,
  },
  {
    name: 'pay out suspended funds',
    weight: 1,
    isPossible: (sim) => suspendedPayments(sim).length > 0,
    run: payOutSuspended,
  },
];
