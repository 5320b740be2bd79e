// Liveness checks of a person in front of a camera.

import type { Time } from '../../kernel/effects.ts';

/** Claimed identity: the owner of a wallet, or a known customer. */
type LivenessSubject =
  | { type: 'WALLET'; account: Record<string, unknown> & { accountType: string } }
  | {
      type: 'CUSTOMER';
      customerId: string;
      /** Number of this poll, from 1. */
      polls: number;
    };

/** A liveness check of one person. */
export interface LivenessCheck {
  /** Unique for this check. */
  id: string;
  subject: LivenessSubject;
  startedAt: Time;
}

export type LivenessProgress =
  | { state: 'waiting'; checkAfterMs: number }
  | { state: 'passed' }
  | { state: 'failed' };

export interface LivenessPort {
  /**
   * For a wallet, called at the start and at the times of `checkAfterMs`. For a customer, called at
   * each read of the result by its platform.
   */
  check(check: LivenessCheck, now: Time): Promise<LivenessProgress>;
  /** Called when the person confirms the completion on the hosted page. */
  complete(check: LivenessCheck, now: Time): Promise<LivenessProgress>;
}
