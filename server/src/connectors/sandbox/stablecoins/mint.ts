// The scripted, stateless stablecoin provider. The states of issuances and orders follow from their
// rows in mint-outcomes.ts and the elapsed time. Restarts and repeated orders therefore have no
// effect. The client ID determines the IDs of the accessible accounts, and the secret their number.
import { sandboxSuffixOf } from '../../../catalog/accounts/account-info.ts';
import type { Time } from '../../../kernel/effects.ts';
import type {
  FundingInstructions,
  LinkedAccount,
  LinkResult,
  MintOrder,
  MintPort,
  OrderPreview,
  OrderProgress,
  ProviderCredentials,
  ProviderLink,
  ProviderToken,
  TokenLookup,
  TokenName,
  UnlinkedResult,
} from '../../ports/stablecoins.ts';
import {
  bytesOf,
  digitsOf,
  lettersOf,
  sparkAddressOf,
  withoutScriptedSuffix,
} from '../payments/account-details.ts';
import {
  AUTO_ENABLED_SUFFIX,
  BANK_FAILURE_SUFFIX,
  BANK_LINKS,
  BANK_REJECTED_SUFFIX,
  COMPLETION,
  FAILURE,
  FUNDING_MS,
  ISSUED,
  MISMATCH_SUFFIX,
  ORDERS,
  type OrderOutcome,
  PROVIDER_STATUS,
  SECRETS,
  TIMING,
  TOKENS,
} from './mint-outcomes.ts';

const suffixOf = (text: string | null) => (text ?? '').slice(-3);
const secretOf = ({ clientSecret }: ProviderCredentials) => SECRETS[suffixOf(clientSecret)] ?? {};

/** Simulates an unreachable host. */
const unavailableError = (): Error =>
  new Error('The stablecoin provider of the sandbox is unavailable.');

/**
 * Throws if the provider is unavailable for these credentials. Returns the reason if the
 * credentials are invalid.
 */
function unlinkedResultOf({ credentials }: ProviderLink): UnlinkedResult | undefined {
  const { isUnavailable, unlinkedReason } = secretOf(credentials);
  if (isUnavailable) throw unavailableError();
  return unlinkedReason && { state: 'unlinked', reason: unlinkedReason };
}

const shortHash = (seed: string, purpose: string) =>
  bytesOf(seed, purpose).toString('hex').slice(0, 20);

/** Name and symbol, derived from the provider's identifier. */
function namesOf(identifier: string): { name: string; symbol: string } {
  const words = identifier.match(/[A-Za-z]+/g) ?? ['token'];
  const nameWords = words.map((word) =>
    word.length > 3 ? `${word.charAt(0).toUpperCase()}${word.slice(1)}` : word.toUpperCase(),
  );
  return {
    name: nameWords.join(' ').slice(0, 100),
    symbol: words.join('').toUpperCase().slice(0, 10),
  };
}

function tokenAt({ providerTokenIdentifier }: TokenName, elapsedMs: number): TokenLookup {
  const outcome = TOKENS[suffixOf(providerTokenIdentifier)] ?? ISSUED;
  if (outcome === 'unavailable') throw unavailableError();
  if (outcome === 'absent') return { state: 'absent' };
  const reachedStates = outcome.filter(({ afterMs }) => afterMs <= elapsedMs);
  const nextState = outcome[reachedStates.length];
  const token: ProviderToken = {
    ...namesOf(providerTokenIdentifier),
    decimals: 6,
    baseCurrency: 'USD',
    issuance: reachedStates.at(-1)?.issuance ?? 'PENDING_REVIEW',
    supply: 0n,
    checkAfterMs: nextState ? nextState.afterMs - elapsedMs : null,
  };
  return { state: 'found', token };
}

const isBank = ({ info }: LinkedAccount) => info.accountType === 'USD_ACCOUNT';
const numberSuffixOf = ({ info }: LinkedAccount) => sandboxSuffixOf(info);

/**
 * Number suffixes with outcomes. The reference of an account contains them, because orders omit the
 * number.
 */
const BANK_SCRIPTS = [BANK_FAILURE_SUFFIX, BANK_REJECTED_SUFFIX];

function linkOf(account: LinkedAccount): LinkResult {
  const isSupported =
    account.rail === 'SPARK' ? account.info.accountType === 'SPARK_WALLET' : isBank(account);
  if (!isSupported) return { state: 'rejected', problem: 'NOT_SUPPORTED' };
  const problem = isBank(account) && BANK_LINKS[numberSuffixOf(account)];
  if (problem) return { state: 'rejected', problem };
  const reference = `address_${shortHash(account.id, 'mint address')}`;
  const scriptedSuffix =
    isBank(account) && BANK_SCRIPTS.find((suffix) => suffix === numberSuffixOf(account));
  return {
    state: 'linked',
    reference: scriptedSuffix ? `${reference}-${scriptedSuffix}` : reference,
  };
}

/** Suffix of a scripted outcome in the reference of the source or destination account. */
const scriptedSuffixOf = ({ from, to }: MintOrder): string | undefined =>
  BANK_SCRIPTS.find((suffix) => [from, to].some((each) => each?.reference.endsWith(`-${suffix}`)));

/** Whether a payment, by wire or with tokens, is needed before the order continues. */
const needsPayment = ({ type, source }: MintOrder) =>
  source === (type === 'MINT' ? 'WIRE' : 'EXTERNAL_ACCOUNT');

const instructionsOf = ({ id, type, token }: MintOrder): FundingInstructions =>
  type === 'MINT'
    ? {
        rail: 'WIRE',
        network: 'FEDWIRE',
        address: withoutScriptedSuffix(id, (seed) => digitsOf(seed, 'mint wire', 14)),
        valueType: 'USD',
        // Passes the ABA checksum, but is not assigned to a bank.
        routingNumber: '110000000',
        bankName: 'Railhead Sandbox Bank',
        beneficiaryName: 'Railhead Sandbox Issuer',
        reference: `RH${lettersOf(id, 'mint reference', 10)}`,
      }
    : {
        rail: token.network,
        network: token.network,
        address: sparkAddressOf(`burn ${id}`),
        valueType: token.networkTokenIdentifier,
      };

function previewOf({ credentials }: ProviderLink, order: MintOrder): OrderPreview {
  const {
    areOrdersUnavailable,
    unlinkedReasonOfOrders: reason,
    hasNoBalance,
  } = secretOf(credentials);
  if (areOrdersUnavailable) throw unavailableError();
  if (reason) return { state: 'unlinked', reason };
  if (order.source === 'PROVIDER_INTERNAL_BALANCE' && hasNoBalance) return { state: 'no-source' };
  if (scriptedSuffixOf(order) === BANK_REJECTED_SUFFIX) {
    return { state: 'rejected', reason: 'The sandbox rejects orders for this bank account.' };
  }
  const cents = order.amount / 10n ** BigInt(order.decimals - 2);
  return {
    state: 'accepted',
    ...(needsPayment(order)
      ? { fundingInstructions: instructionsOf(order), expiresAt: order.orderedAt + FUNDING_MS }
      : {}),
    estimatedDelivery: {
      rail: order.rail,
      amount: String(cents),
      currency: order.baseCurrency,
      timing: TIMING[order.rail] ?? 'MINUTES',
    },
  };
}

function outcomeOf(order: MintOrder): OrderOutcome {
  if (scriptedSuffixOf(order) === BANK_FAILURE_SUFFIX) return FAILURE;
  return ORDERS[suffixOf(order.description)] ?? COMPLETION;
}

type Step = OrderProgress extends infer P
  ? P extends OrderProgress
    ? Omit<P, 'providerStatus' | 'checkAfterMs'>
    : never
  : never;

function stepAt(order: MintOrder, elapsedMs: number): { step: Step; nextMs?: number } {
  const { isNeverPaid, processingMs, completedMs, failure } = outcomeOf(order);
  if (needsPayment(order) && isNeverPaid) {
    if (elapsedMs >= FUNDING_MS) return { step: { state: 'expired', final: true } };
    return { step: { state: 'funding' }, nextMs: FUNDING_MS };
  }
  if (elapsedMs < processingMs) {
    return { step: { state: needsPayment(order) ? 'funding' : 'submitted' }, nextMs: processingMs };
  }
  if (elapsedMs < completedMs) return { step: { state: 'processing' }, nextMs: completedMs };
  return { step: failure ? { state: 'failed', reason: failure } : { state: 'completed' } };
}

function progressAt(order: MintOrder, now: Time): OrderProgress {
  const elapsedMs = now - order.orderedAt;
  const { step, nextMs } = stepAt(order, elapsedMs);
  return {
    ...step,
    providerStatus: PROVIDER_STATUS[step.state],
    ...(nextMs === undefined ? {} : { checkAfterMs: nextMs - elapsedMs }),
  };
}

export const sandboxMint: MintPort = {
  async accountsOf(credentials) {
    const { isUnavailable, isRejected, accountCount = 1 } = secretOf(credentials);
    if (isUnavailable) throw unavailableError();
    if (isRejected) return [];
    const accountId = `account_${shortHash(credentials.clientId, 'mint account')}`;
    return Array.from({ length: accountCount }, (_, index) =>
      index ? `${accountId}_${index + 1}` : accountId,
    );
  },
  async token(link, name, ageMs) {
    const unlinkedResult = unlinkedResultOf(link);
    if (unlinkedResult) return unlinkedResult;
    const tokenLookup = tokenAt(name, ageMs ?? 0);
    const isMismatch =
      tokenLookup.state === 'found' && suffixOf(name.networkTokenIdentifier) === MISMATCH_SUFFIX;
    return isMismatch ? { state: 'mismatch' } : tokenLookup;
  },
  linkAccount: async (link, account) => unlinkedResultOf(link) ?? linkOf(account),
  prepare: async (link, order) => unlinkedResultOf(link) ?? previewOf(link, order),
  submit: async (link, order) => unlinkedResultOf(link) ?? progressAt(order, order.orderedAt),
  check: async (link, order, time) => unlinkedResultOf(link) ?? progressAt(order, time),
  enablesImmediately: ({ providerTokenIdentifier }) =>
    suffixOf(providerTokenIdentifier) === AUTO_ENABLED_SUFFIX,
};
