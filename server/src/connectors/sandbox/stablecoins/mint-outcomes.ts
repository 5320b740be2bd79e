// Outcomes of the scripted stablecoin provider, as data. The last three characters of a secret, a
// token identifier, a bank account number or an order description select a row. A timeline
// determines the state by the elapsed time. Other suffixes succeed.
import type {
  IssuanceStatus,
  LinkProblem,
  OrderProgress,
  UnlinkedResult,
} from '../../ports/stablecoins.ts';

const SECOND = 1_000;
const DAY = 24 * 60 * 60 * SECOND;

/** Time from an order to its payment deadline. */
export const FUNDING_MS = 7 * DAY;

/** Secrets of clients of the provider, by suffix. */
export const SECRETS: Readonly<Record<string, SecretOutcome>> = {
  '002': { isRejected: true },
  '003': { unlinkedReason: 'INVALID' },
  '004': { unlinkedReason: 'REVOKED' },
  '005': { accountCount: 2 },
  '006': { hasNoBalance: true },
  '007': { areOrdersUnavailable: true },
  '008': { isUnavailable: true },
  '009': { unlinkedReasonOfOrders: 'INVALID' },
  '010': { unlinkedReasonOfOrders: 'REVOKED' },
};

interface SecretOutcome {
  isRejected?: true;
  /** Reason for the rejection of every call after the link. */
  unlinkedReason?: UnlinkedResult['reason'];
  /** Reason for the rejection of every mint and burn at its validation. */
  unlinkedReasonOfOrders?: UnlinkedResult['reason'];
  /** Number of provider accounts that the secret can access. Default 1. */
  accountCount?: number;
  hasNoBalance?: true;
  /** The provider is unavailable for the validation of mints and burns. */
  areOrdersUnavailable?: true;
  /** The provider is unavailable for all calls. */
  isUnavailable?: true;
}

type TokenOutcome =
  | 'absent'
  | 'unavailable'
  | readonly { afterMs: number; issuance: IssuanceStatus }[];

const issuanceAfter = (afterMs: number, issuance: IssuanceStatus) => ({ afterMs, issuance });

/** Tokens, by the provider's identifier: states of the issuance since the registration. */
export const TOKENS: Readonly<Record<string, TokenOutcome>> = {
  '001': [issuanceAfter(0, 'PROVISIONING')],
  '002': [issuanceAfter(0, 'REJECTED')],
  '003': [issuanceAfter(0, 'FAILED')],
  '004': 'absent',
  '005': [
    issuanceAfter(0, 'PENDING_REVIEW'),
    issuanceAfter(15 * SECOND, 'PROVISIONING'),
    issuanceAfter(30 * SECOND, 'PROVISIONED'),
  ],
  '007': 'unavailable',
};
export const ISSUED: TokenOutcome = [issuanceAfter(0, 'PROVISIONED')];
/** Suffix of tokens that are approved without an operator. */
export const AUTO_ENABLED_SUFFIX = '006';

/** Suffix of a network identifier that belongs to another token. */
export const MISMATCH_SUFFIX = '002';

/** Bank accounts that cannot be used, by number. */
export const BANK_LINKS: Readonly<Record<string, LinkProblem>> = {
  '201': 'LINK_FAILED',
  '202': 'LINK_METHOD_REQUIRED',
  '203': 'NOT_LINKED',
  '204': 'PROVIDER_LINK_REQUIRED',
  '205': 'PROVIDER_LINK_FAILED',
};
/** Bank accounts for which orders are rejected, or fail. */
export const BANK_REJECTED_SUFFIX = '206';
export const BANK_FAILURE_SUFFIX = '003';

export interface OrderOutcome {
  /** Whether the required payment is never made. */
  isNeverPaid?: true;
  /** Times since the order at which processing starts and ends. */
  processingMs: number;
  completedMs: number;
  failure?: string;
}

export const COMPLETION: OrderOutcome = { processingMs: 2 * SECOND, completedMs: 5 * SECOND };
export const FAILURE: OrderOutcome = { ...COMPLETION, failure: 'PROVIDER_TRANSFER_FAILED' };

/** Mints and burns, by description. */
export const ORDERS: Readonly<Record<string, OrderOutcome>> = {
  '001': { ...COMPLETION, isNeverPaid: true },
  '003': FAILURE,
  '004': { ...COMPLETION, failure: 'PROVIDER_CANCELLED' },
  '005': { processingMs: 10 * SECOND, completedMs: 30 * SECOND },
};

/** The provider's names for the states of an order. */
export const PROVIDER_STATUS: Readonly<Record<OrderProgress['state'], string>> = {
  unknown: 'unknown',
  funding: 'awaiting_funds',
  submitted: 'pending',
  processing: 'processing',
  completed: 'complete',
  failed: 'failed',
  expired: 'expired',
};

/** Estimated arrival, by rail. */
export const TIMING: Readonly<Record<string, string>> = {
  SPARK: 'MINUTES',
  RTP_CREDIT: 'MINUTES',
  WIRE: 'SAME_BUSINESS_DAY',
  SAME_DAY_ACH_CREDIT: 'SAME_BUSINESS_DAY',
  ACH_CREDIT: 'ONE_TO_THREE_BUSINESS_DAYS',
};
