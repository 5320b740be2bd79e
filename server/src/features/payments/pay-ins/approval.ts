// Maps a platform's response to an approval request to a decision. Pure. The status 202 extends the
// approval period. Every other response decides the payment, as does a missing response.

import type { CounterpartyFieldName, Facts } from '../../../catalog/accounts/field-names.ts';
import { providerRequiredCustomerFields } from '../../../catalog/currencies/offers.ts';
import type { FailureReason } from '../transactions/index.ts';

/** Time to respond to the approval request, and to decide after a response of 202. */
export const APPROVAL_TIMEOUT_MS = 5_000;

interface RequestedField {
  name: CounterpartyFieldName;
  mandatory: boolean;
}

/** Fields that the provider of the currency requires and the customer record does not contain. */
export function requestedFields(currency: string, facts: Facts): RequestedField[] {
  return providerRequiredCustomerFields(currency)
    .filter((name) => facts[name] === undefined)
    .map((name) => ({ name, mandatory: true }));
}

export type Info = Record<string, unknown>;

/** Names of mandatory fields that are missing in a response. */
export const missingFieldsOf = (
  info: Info,
  fields: readonly { name: string; mandatory: boolean }[],
) =>
  fields
    .filter(({ name, mandatory }) => mandatory && (info[name] ?? '') === '')
    .map(({ name }) => name);

export type Decision =
  | { outcome: 'approve'; info: Info }
  | { outcome: 'defer' }
  | { outcome: 'reject'; reason: FailureReason };

const reject = (reason: FailureReason): Decision => ({ outcome: 'reject', reason });

const isObject = (value: unknown): value is Info =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** `receiverCustomerInfo` of an approval, or undefined for an invalid body. */
function parseInfo(response: string): Info | undefined {
  if (response.trim() === '') return {};
  try {
    const body: unknown = JSON.parse(response);
    if (!isObject(body)) return undefined;
    const info = body.receiverCustomerInfo ?? {};
    return isObject(info) ? info : undefined;
  } catch {
    return undefined;
  }
}

export const TIMED_OUT: Decision = reject('PAYMENT_APPROVAL_TIMED_OUT');

/** `status` is null if there was no response. */
export function decisionOf(
  { status, responseText }: { status: number | null; responseText: string | null },
  fields: readonly { name: string; mandatory: boolean }[],
): Decision {
  switch (status) {
    case null:
      return TIMED_OUT;
    case 200: {
      const info = parseInfo(responseText ?? '');
      if (!info) return reject('PAYMENT_APPROVAL_WEBHOOK_ERROR');
      if (missingFieldsOf(info, fields).length) return reject('MISSING_MANDATORY_PAYEE_DATA');
      return { outcome: 'approve', info };
    }
    case 202:
      return { outcome: 'defer' };
    case 403:
      return reject('PAY_REQUEST_FAILED');
    case 422:
      return reject('MISSING_MANDATORY_PAYEE_DATA');
    default:
      return reject('PAYMENT_APPROVAL_WEBHOOK_ERROR');
  }
}
