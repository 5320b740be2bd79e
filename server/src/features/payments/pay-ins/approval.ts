// What a platform's answer to the question whether its customer may be paid means, without a database: the
// question is put once, over HTTP, and every answer, or none, decides the payment or gives a little time.

import type { CounterpartyFieldName, Facts } from '../../../catalog/accounts/field-names.ts';
import { providerRequiredCustomerFields } from '../../../catalog/currencies/offers.ts';
import type { FailureReason } from '../transactions/index.ts';

/** How long a platform has to answer, and how long for its word after it asked for time. */
export const ANSWER_WITHIN_MS = 5_000;

interface RequestedField {
  name: CounterpartyFieldName;
  mandatory: boolean;
}

/** What the currency's provider demands of a receiver, and the platform's registration does not say. */
export function requestedFields(currency: string, known: Facts): RequestedField[] {
  return providerRequiredCustomerFields(currency)
    .filter((name) => known[name] === undefined)
    .map((name) => ({ name, mandatory: true }));
}

export type Info = Record<string, unknown>;

/** Names of mandatory fields that an answer lacks. */
export const missingIn = (info: Info, requested: readonly { name: string; mandatory: boolean }[]) =>
  requested
    .filter(({ name, mandatory }) => mandatory && (info[name] ?? '') === '')
    .map(({ name }) => name);

export type Verdict =
  | { say: 'accept'; info: Info }
  | { say: 'wait' }
  | { say: 'refuse'; reason: FailureReason };

const refuse = (reason: FailureReason): Verdict => ({ say: 'refuse', reason });

const isObject = (value: unknown): value is Info =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** `receiverCustomerInfo` of an approving answer; undefined for a body that is none. */
function infoIn(answer: string): Info | undefined {
  if (answer.trim() === '') return {};
  try {
    const body: unknown = JSON.parse(answer);
    if (!isObject(body)) return undefined;
    const info = body.receiverCustomerInfo ?? {};
    return isObject(info) ? info : undefined;
  } catch {
    return undefined;
  }
}

/** Nobody said anything in time. */
export const SILENCE: Verdict = refuse('PAYMENT_APPROVAL_TIMED_OUT');

/** `status` is null when no answer came. */
export function verdictOf(
  { status, answer }: { status: number | null; answer: string | null },
  requested: readonly { name: string; mandatory: boolean }[],
): Verdict {
  switch (status) {
    case null:
      return SILENCE;
    case 200: {
      const info = infoIn(answer ?? '');
      if (!info) return refuse('PAYMENT_APPROVAL_WEBHOOK_ERROR');
      if (missingIn(info, requested).length) return refuse('MISSING_MANDATORY_PAYEE_DATA');
      return { say: 'accept', info };
    }
    case 202:
      return { say: 'wait' };
    case 403:
      return refuse('PAY_REQUEST_FAILED');
    case 422:
      return refuse('MISSING_MANDATORY_PAYEE_DATA');
    default:
      return refuse('PAYMENT_APPROVAL_WEBHOOK_ERROR');
  }
}
