// The counterparty UMA providers of the sandbox. Every host has the same scripted names. A listed
// provider omits the names in currencies that it does not support. Payments are stateless: the
// state follows from the name and the time since the payment was sent (`at`).
import { UMA_PROVIDERS, type UmaProvider } from '../../../catalog/rails/uma-providers.ts';
import type { Code } from '../../../kernel/fault.ts';
import type { Progress, UmaPayment, UmaPort, UmaRejection } from '../../ports/index.ts';
import { progressOn } from '../payments/rail.ts';
import {
  DOCUMENTED_HOST,
  REQUIRED_PAYER_DATA,
  UMA_SCRIPTS,
  type UmaScript,
  umaCurrency,
} from './uma-addresses.ts';

const SCRIPTS_BY_NAME = new Map(UMA_SCRIPTS.map((script) => [script.name, script]));
const PROVIDERS_BY_DOMAIN = new Map(UMA_PROVIDERS.map((provider) => [provider.domain, provider]));

/** Name and host of an address, in lower case. */
function splitAddress(address: string): { name: string; host: string } {
  const text = address.toLowerCase();
  const separatorIndex = text.indexOf('@');
  return { name: text.slice(0, separatorIndex), host: text.slice(separatorIndex + 1) };
}

const umaRejection = (code: Code, reason: string): UmaRejection => ({
  state: 'rejected',
  code,
  reason,
});

const scriptedRejection = (code: Code): UmaRejection =>
  umaRejection(code, `The sandbox returns ${code} for this address.`);

const supportsCurrency = (provider: UmaProvider | undefined, currency: string) =>
  provider === undefined || provider.currencies.includes(currency);

/** The script of a receiver. Undefined for an unknown name or an unsupported currency. */
function scriptOf(address: string): UmaScript | undefined {
  const { name, host } = splitAddress(address);
  const script = SCRIPTS_BY_NAME.get(name);
  return script && supportsCurrency(PROVIDERS_BY_DOMAIN.get(host), script.currency)
    ? script
    : undefined;
}

const NO_RECEIVER = umaRejection('UMA_NOT_FOUND', 'The UMA address was not found at its provider.');

function rejectionOf(script: UmaScript, payment: UmaPayment): UmaRejection | undefined {
  const { rejectedAt: rejection } = script;
  if (rejection)
    return scriptedRejection(
      'payRequest' in rejection ? rejection.payRequest : rejection.discovery,
    );
  const { code, min, max } = umaCurrency(script.currency);
  if (payment.currency !== code)
    return umaRejection('INVALID_CURRENCY', `The receiver accepts ${code}.`);
  if (payment.amount < min || payment.amount > max) {
    return umaRejection(
      'AMOUNT_OUT_OF_RANGE',
      `The receiver accepts ${min} to ${max} minor units of ${code} per payment.`,
    );
  }
  const missingFields = REQUIRED_PAYER_DATA.filter(
    ({ name, mandatory }) => mandatory && payment.payerData[name] === undefined,
  );
  if (missingFields.length === 0) return undefined;
  const names = missingFields.map(({ name }) => name).join(', ');
  return umaRejection('MISSING_MANDATORY_USER_INFO', `Required payer data is missing: ${names}.`);
}

function progressAt(payment: UmaPayment & { reference: string }, elapsedMs: number): Progress {
  const timeline = scriptOf(payment.receiver)?.timeline;
  if (!timeline) return { state: 'failed', reason: 'COUNTERPARTY_POST_TX_FAILED' };
  return progressOn(timeline, payment.reference, elapsedMs);
}

/**
 * An incoming payment has the outcome of a payment to its sender. A failure simulates a refund: the
 * funds are received and must be returned.
 */
function payInProgress(payment: UmaPayment, elapsedMs: number): Progress {
  const timeline = scriptOf(payment.sender)?.timeline;
  if (!timeline) return { state: 'failed', reason: 'COUNTERPARTY_POST_TX_FAILED' };
  const progress = progressOn(timeline, payment.id, elapsedMs);
  return progress.state === 'failed' ? { state: 'returned', reason: progress.reason } : progress;
}

/** `domain` is an additional host. */
export function sandboxUma(domain: string): UmaPort {
  const isScriptedHost = (host: string) =>
    host === domain || DOCUMENTED_HOST.test(host) || PROVIDERS_BY_DOMAIN.has(host);
  return {
    reaches: (address) => isScriptedHost(splitAddress(address).host),
    providers: () => UMA_PROVIDERS,
    async discoverPayee({ receiver }) {
      const script = scriptOf(receiver);
      if (!script) return NO_RECEIVER;
      const { rejectedAt: rejection, currency } = script;
      if (rejection && 'discovery' in rejection) {
        return rejection.discovery === 'UMA_NOT_FOUND'
          ? NO_RECEIVER
          : scriptedRejection(rejection.discovery);
      }
      return {
        state: 'found',
        currencies: [umaCurrency(currency)],
        requiredPayerData: REQUIRED_PAYER_DATA,
      };
    },
    async payRequest(payment) {
      const script = scriptOf(payment.receiver);
      if (!script) return NO_RECEIVER;
      return (
        rejectionOf(script, payment) ?? {
          state: 'accepted',
          reference: payment.id,
          receiverInfo: { FULL_NAME: 'Sandbox Receiver', COUNTRY_OF_RESIDENCE: 'US' },
        }
      );
    },
    send: async (payment) => progressAt(payment, 0),
    check: async (payment, now) => progressAt(payment, now - payment.at),
    collect: async (payment, now) => payInProgress(payment, now - payment.at),
  };
}
