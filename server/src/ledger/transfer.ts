// Transfers between ledger accounts and freezes of accounts: the ledger part of a change set, as
// plain data. Amounts are bigint minor units. Every transfer debits one account and credits another
// of the same currency, so the balances of a currency always sum to zero.

import type { Time } from '../kernel/effects.ts';
import type { Money } from '../kernel/money.ts';

/**
 * Effects of a transfer:
 *
 *   phase     debit account                     credit account
 *   posted    balance - amount                  balance + amount
 *   pending   held + amount
 *   post      held - amount, balance - amount   balance + amount
 *   void      held - amount
 *
 * `post` and `void` resolve a pending transfer of the same amount, once.
 */
export type Phase = 'posted' | 'pending' | 'post' | 'void';

/** The phase that each method of a context (`ctx.hold`) stages. */
export const PHASE_OF = {
  transfer: 'posted',
  hold: 'pending',
  post: 'post',
  void: 'void',
} as const satisfies Record<string, Phase>;
export type TransferVerb = keyof typeof PHASE_OF;

export interface TransferRow extends Money {
  /** Transaction of the transfer. With `step` it is the key, so a step cannot be posted twice. */
  transaction_id: string;
  step: string;
  /**
   * A `post` or `void` has the step of its pending transfer, and is stored with the suffix `!`.
   */
  phase: Phase;
  debit: string;
  credit: string;
  created_at: Time;
  /** Also applies to frozen accounts, for example for a refund or a debt, like every `post` and `void`. */
  force?: boolean;
}

/**
 * Freezes or unfreezes a ledger account, after all transfers of its change set. A frozen account
 * accepts no new debit or credit. Pending transfers can still be posted or voided.
 */
export interface FreezeRow {
  account: string;
  frozen: boolean;
  /** Whether `balance` and `held` must be zero at this point. */
  empty: boolean;
}

/** Reason why the ledger rejects a change set. */
export type LedgerRejection =
  /** An account would fall below its floor. */
  | { reason: 'insufficient-funds'; account: string }
  /** The debited or credited account is frozen. */
  | { reason: 'frozen'; account: string }
  /** An account that must be empty has a balance or a hold. */
  | { reason: 'not-empty'; account: string }
  /** A unique key or another constraint of a table. */
  | { reason: 'constraint'; constraint: string };

/** Suffix of the stored step of a `post` or `void`, after the step of the pending transfer. */
export const RESOLVED_SUFFIX = '!';

export const resolves = ({ phase }: Pick<TransferRow, 'phase'>): boolean =>
  phase === 'post' || phase === 'void';

/** Stored step of a transfer. By the primary key, a pending transfer is resolved only once. */
export const storedStep = (transfer: TransferRow): string =>
  resolves(transfer) ? transfer.step + RESOLVED_SUFFIX : transfer.step;

/** Whether the accounts of a transfer must not be frozen. */
export const needsUnfrozen = ({ phase, force }: TransferRow): boolean =>
  !force && (phase === 'posted' || phase === 'pending');
