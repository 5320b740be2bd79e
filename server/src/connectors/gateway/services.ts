// Services of a provider over the provider protocol: account checks, exchange rates, identity
// verification, account details for deposits, e-mails and text messages.

import type { Static } from '@sinclair/typebox';
import { midRate, type RateTable, tableOfJson } from '../../catalog/currencies/rate-table.ts';
import { assertNever } from '../../kernel/assert-never.ts';
import { type Effects, iso, type Time } from '../../kernel/effects.ts';
import type {
  BeneficiaryVerificationPort,
  IdentityCase,
  IdentityVerdict,
  MailPort,
  NameCheck,
  RatePort,
} from '../ports/index.ts';
import type { ProviderPort } from '../ports/providers/port.ts';
import {
  AccountCheckResult,
  IdentityState,
  Instructions,
  PersonMessageResult,
  ReportedRates,
} from '../ports/providers/services.ts';
import { NOT_FOUND, type ProviderClient } from './client.ts';

const RATES_EVERY_MS = 30_000;
const RATES_RETRY_MS = 5_000;
const DEFAULT_VALIDITY_S = 3_600;
/**
 * Tolerance for clock differences. Rates with a later time would prevent the use of correct ones.
 */
const TOLERANCE_MS = 5 * 60_000;

/** Returns the problem of reported rates, or undefined if they are usable. */
export function rateProblem(reportedRates: ReportedRates, now: Time): string | undefined {
  const parsedTable = tableOfJson(JSON.stringify(reportedRates), false);
  if ('problems' in parsedTable) return parsedTable.problems.join('; ');
  return Date.parse(reportedRates.at) > now + TOLERANCE_MS ? 'at is in the future' : undefined;
}

function nameCheckOf(reply: Static<typeof AccountCheckResult>): NameCheck {
  switch (reply.result) {
    case 'matched':
      return { status: 'MATCHED', fullName: reply.fullName };
    case 'partly_matched':
      return { status: 'PARTIAL_MATCH', fullName: reply.fullName };
    case 'not_matched':
      return { status: 'NOT_MATCHED' };
    case 'unsupported':
      return { status: 'UNSUPPORTED' };
    case 'checked_at_execution':
      return { status: 'CHECKED_BY_RECEIVING_FI' };
    case 'pending':
      return { status: 'PENDING', checkAfterMs: reply.checkAfterSeconds * 1_000 };
    case 'invalid_account':
      return { status: 'INVALID_ACCOUNT' };
    default:
      return assertNever(reply, 'result of an account check');
  }
}

export const accountChecks = (client: ProviderClient): BeneficiaryVerificationPort => ({
  async verify(account, elapsedMs) {
    const body = { account, elapsedSeconds: Math.floor(elapsedMs / 1_000) };
    return nameCheckOf(await client.call('/accounts/check', body, AccountCheckResult));
  },
});

/** Converts a reported state to a verdict. */
export function verdictOf(reportedState: Static<typeof IdentityState>): IdentityVerdict {
  if (reportedState.state !== 'review') return reportedState;
  const { checkAfterSeconds } = reportedState;
  return {
    state: 'review',
    ...(checkAfterSeconds === undefined ? {} : { checkAfterMs: checkAfterSeconds * 1_000 }),
  };
}

export function identityChecks(client: ProviderClient): ProviderPort['identity'] {
  const bodyOf = ({ id: caseId, ...otherFields }: IdentityCase) => ({ caseId, ...otherFields });
  const submit = async (identityCase: IdentityCase) =>
    verdictOf(await client.call('/identity/submit', bodyOf(identityCase), IdentityState));
  return {
    submit,
    async check(identityCase) {
      const reply = await client.callOrNotFound(
        '/identity/state',
        bodyOf(identityCase),
        IdentityState,
      );
      // The case may have been submitted to the provider of an earlier route.
      return reply === NOT_FOUND ? submit(identityCase) : verdictOf(reply);
    },
  };
}

interface TimedTable extends RateTable {
  at: number;
  validUntil: number;
}

/** Null if the rates are not usable. */
function tableOf(reportedRates: ReportedRates, now: Time): TimedTable | null {
  const parsedTable = tableOfJson(JSON.stringify(reportedRates), false);
  if ('problems' in parsedTable || rateProblem(reportedRates, now) !== undefined) return null;
  const { at = 0 } = parsedTable.table;
  const validUntil = at + (reportedRates.validForSeconds ?? DEFAULT_VALIDITY_S) * 1_000;
  return { ...parsedTable.table, at, validUntil };
}

/** Rates of the latest table, which a message reported or a request returned. */
export function providerRates(
  client: ProviderClient,
  effects: Effects,
  reportedRates: ReportedRates | null,
): RatePort {
  let latestTable = reportedRates && tableOf(reportedRates, effects.now());
  let nextRequestAt = 0;
  let pendingRequest: Promise<void> | undefined;

  async function request(): Promise<void> {
    nextRequestAt = effects.now() + RATES_RETRY_MS;
    const reply = await client.call('/rates', {}, ReportedRates);
    const table = tableOf(reply, effects.now());
    if (!table) {
      throw new Error(`the provider returned unusable rates: ${rateProblem(reply, effects.now())}`);
    }
    if (!latestTable || table.at >= latestTable.at) latestTable = table;
    nextRequestAt = effects.now() + RATES_EVERY_MS;
  }

  return {
    async rate(from, to) {
      if (effects.now() >= nextRequestAt) {
        pendingRequest ??= request().finally(() => {
          pendingRequest = undefined;
        });
        // The earlier table is used while the provider does not respond.
        await pendingRequest.catch((error: Error) => {
          if (!latestTable) throw error;
        });
      }
      if (!latestTable || effects.now() > latestTable.validUntil) return undefined;
      const rate = midRate(latestTable, from, to);
      return rate && { rate, at: latestTable.at };
    },
  };
}

export const fundingCalls = (client: ProviderClient): ProviderPort['funding'] => ({
  async request(account) {
    return (await client.call('/funding/account', account, Instructions)).instructions;
  },
  async forPayment({ amount, at: _, expiresAt, ...payment }) {
    const body = { ...payment, amount: Number(amount), expiresAt: iso(expiresAt) };
    return (await client.call('/funding/payment', body, Instructions)).instructions;
  },
});

export const messagePort = (client: ProviderClient, channel: 'email' | 'sms'): MailPort => ({
  async send({ id: messageId, ...message }) {
    const body = { messageId, channel, ...message };
    return (await client.call('/messages/send', body, PersonMessageResult)).result;
  },
});
