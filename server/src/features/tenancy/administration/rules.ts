// Rules of the settings that an operator decides. Values that browsers would reject are rejected
// here, before a customer registers an unusable passkey or a page with a card number remains empty.
import { findCurrency } from '../../../catalog/currencies/currencies.ts';
import { originProblem } from '../../../kernel/crypto/webauthn.ts';
import { type FieldError, invalid } from '../../../kernel/fault.ts';
import type { Mode } from '../../../kernel/mode.ts';
import { readUrl } from '../../../kernel/net/url.ts';
import type { CardProgram, PasskeySite, PaymentLimit } from '../platform/index.ts';

/** Maximum number of PROCESSING replies of wallet operations. */
export const MAX_WALLET_PROCESSING = 100;
export const MAX_HOURLY_PAYMENTS = 999_999;
/** `#rrggbb`. */
export const BRAND_COLOR = '^#[0-9a-fA-F]{6}$';

/** Maximum values of the card program. */
export const CARD_PROGRAM_MAXIMUM = {
  maxLive: 10_000_000,
  /** All cards that an account funds are read in one query. */
  maxLivePerHolder: 1_000,
  /** Number of origins. */
  frameOrigins: 20,
} as const;

/** Production platforms are not regulated by default, so their customers are verified. */
export const isRegulatedByDefault = (environment: Mode): boolean => environment === 'sandbox';

const DOMAIN = /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])$/;

/** Whether a platform can use this host. `localhost` is permitted only in the sandbox. */
const isHost = (host: string, environment: Mode): boolean =>
  host === 'localhost' ? environment === 'sandbox' : host.length <= 253 && DOMAIN.test(host);

/** Whether pages or apps of this origin can use passkeys of the site `rpId`. */
function isPasskeyOrigin(origin: string, rpId: string, environment: Mode): boolean {
  if (originProblem(origin, rpId) !== undefined) return false;
  return !/^https?:/.test(origin) || isHost(new URL(origin).hostname, environment);
}

/** Error of a passkey site that browsers or apps would reject, or undefined if it is valid. */
export function passkeySiteProblem(
  { rpId, origins }: PasskeySite,
  environment: Mode,
): { field: keyof PasskeySite; message: string } | undefined {
  if (!isHost(rpId, environment)) {
    return { field: 'rpId', message: 'must be a domain, for example example.com' };
  }
  for (const [index, origin] of origins.entries()) {
    if (!isPasskeyOrigin(origin, rpId, environment)) {
      const expected = `an https origin of ${rpId} or of its subdomains, or the origin of an app`;
      return { field: 'origins', message: `${origin} must be ${expected}` };
    }
    if (origins.indexOf(origin) < index) {
      return { field: 'origins', message: `${origin} is listed twice` };
    }
  }
  return undefined;
}

interface TermsSettings {
  regulated: boolean;
  terms: boolean;
}

/**
 * Error of a change that enables a setting without effect, because customers of a regulated
 * platform accept the terms of that platform. Undefined if the change is valid.
 */
export function termsProblem(
  change: { regulated?: boolean | undefined; terms?: boolean | undefined },
  currentSettings: TermsSettings,
): string | undefined {
  const isRegulated = change.regulated ?? currentSettings.regulated;
  const areTermsRequired = change.terms ?? currentSettings.terms;
  const isChanged = change.regulated || change.terms;
  if (!isRegulated || !areTermsRequired || !isChanged) return undefined;
  return 'has no effect, because customers of a regulated platform accept the terms of the platform';
}

interface CheckedSettings {
  regulated?: boolean | undefined;
  terms?: boolean | undefined;
  passkeySite?: PasskeySite | null | undefined;
  walletProcessing?: number | undefined;
}

/** Throws INVALID_INPUT with every setting that is invalid for the platform. */
export function checkSettings(
  change: CheckedSettings,
  currentSettings: TermsSettings,
  environment: Mode,
): void {
  const errors: FieldError[] = [];
  const problem = termsProblem(change, currentSettings);
  if (problem !== undefined) errors.push({ field: 'terms', message: problem });
  const site = change.passkeySite ? passkeySiteProblem(change.passkeySite, environment) : undefined;
  if (site) errors.push({ field: `passkeySite.${site.field}`, message: site.message });
  if (environment === 'production' && (change.walletProcessing ?? 0) > 0) {
    errors.push({ field: 'walletProcessing', message: 'is available in the sandbox only' });
  }
  if (errors.length) throw invalid(errors);
}

/**
 * Whether the text is only a scheme, a host and a port. http is permitted only for this machine in
 * the sandbox.
 */
export function isFrameOrigin(text: string, environment: Mode): boolean {
  const url = readUrl(text);
  if (url?.origin !== text || !isHost(url.hostname, environment)) return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && url.hostname === 'localhost');
}

/** Throws INVALID_INPUT with every origin that browsers would not accept. */
export function checkCardProgram(
  { frameOrigins = [] }: Partial<CardProgram>,
  environment: Mode,
): void {
  const errors = frameOrigins.flatMap((origin, index) =>
    isFrameOrigin(origin, environment)
      ? []
      : [
          {
            field: `frameOrigins.${index}`,
            message: 'must be a scheme and host, for example https://app.example.com',
          },
        ],
  );
  if (errors.length) throw invalid(errors);
}

/** Throws INVALID_INPUT for an unknown currency or a limit without an amount. */
export function checkPaymentLimit(limit: PaymentLimit): void {
  const errors: FieldError[] = (['currency', 'to'] as const).flatMap((field) => {
    const code = limit[field];
    const isKnown = code === undefined || findCurrency(code) !== undefined;
    return isKnown ? [] : [{ field, message: `${code} is not a supported currency` }];
  });
  if (limit.perPayment === undefined && limit.perDay === undefined) {
    errors.push({ field: 'perPayment', message: 'is required if perDay is absent' });
  }
  if (errors.length) throw invalid(errors);
}
