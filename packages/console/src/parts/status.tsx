// Statuses as text, with a matching color.
import { sentence } from '../texts/fields.ts';
import { TEXTS } from '../texts/texts.ts';
import { decimalsOf } from './money.tsx';

type Tone = 'good' | 'bad' | 'caution' | 'neutral';

const GOOD =
  /^(?:COMPLETED|APPROVED|ACTIVE|DELIVERED|SETTLED|VERIFIED|settled|delivered|done|ok|closed|GRANTED|SENT|READY|SUCCEEDED|PASSED|ENABLED|APPLIED|DECIDED|RESOLVED|live)$/;
const BAD =
  /^(?:FAILED|REJECTED|DECLINED|DISABLED|BLOCKED|dead|failed|FROZEN|RETURNED|EXPIRED|REVOKED|DEAD|UNDELIVERED|CANCELLED|CANCELED|LOCKED|open)$/;
const CAUTION =
  /^(?:PENDING.*|WAITING.*|HELD|PROCESSING|AWAITING.*|IN_REVIEW|RESOLVE_ERRORS|PAUSED|queued|running|QUEUED|RUNNING|UNDER_REVIEW|RETRYING|AUTHORIZED|INVITED|interrupted|half-open|CONTRADICTORY|OPEN|CARRIED|IN_SUSPENSE)$/;

function toneOf(status: string): Tone {
  if (GOOD.test(status)) return 'good';
  if (BAD.test(status)) return 'bad';
  return CAUTION.test(status) ? 'caution' : 'neutral';
}

/** Abbreviations that keep their capitals. */
const ACRONYMS =
  /^(?:ACH|API|CLABE|CSV|FX|IBAN|ID|KYB|KYC|NEFT|OTP|PDF|PIX|PNG|RTGS|RTP|SCA|SEPA|SMS|SPEI|SSN|SWIFT|TOTP|TX|UBO|UMA|UPI|URL|US|VPA)$/;

const wordOf = (word: string): string =>
  ACRONYMS.test(word) || decimalsOf(word) !== undefined ? word : word.toLowerCase();

/** `PENDING_MANUAL_REVIEW` → `Pending manual review`. */
export const statusText = (status: string): string =>
  sentence(status.split(/[_-]/).map(wordOf).join(' '));

/** A code as words. The title attribute is the code itself, which users search for. */
export const Code = ({ value }: { value: string }) => (
  <span title={value}>{statusText(value)}</span>
);

export function Status({ value }: { value: string | null | undefined }) {
  if (!value) return <span className="none">{TEXTS.none}</span>;
  return <span className={`status ${toneOf(value)}`}>{statusText(value)}</span>;
}

/** The environment of a platform. The sandbox is highlighted. */
export const ModeMark = ({ mode }: { mode: string }) =>
  mode.toUpperCase() === 'SANDBOX' ? (
    <span className="mode sandbox">{TEXTS.sandbox}</span>
  ) : (
    <span className="mode">{TEXTS.production}</span>
  );
