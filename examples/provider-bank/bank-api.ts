// Client of the API of the bank: OAuth 2.0 client credentials, decimal amounts and signed webhooks.
import { createHmac, timingSafeEqual } from 'node:crypto';

interface BankSettings {
  readonly url: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly webhookSecret: string;
}

export interface BankPayment {
  readonly payment_id: string;
  readonly end_to_end_id: string;
  readonly status: 'PENDING' | 'SETTLED' | 'REJECTED' | 'RETURNED' | 'CANCELLED';
}

/** An event of the bank. `credit.booked` has the fields of the entry. */
export interface BankEvent extends Partial<BankPayment> {
  readonly event_id: string;
  readonly type: 'payment.settled' | 'payment.rejected' | 'payment.returned' | 'credit.booked';
  readonly amount: string;
  readonly currency: string;
  readonly entry_reference?: string;
  readonly remittance?: string;
  readonly debtor_name?: string;
}

const TIMEOUT_MS = 10_000;
const WEBHOOK_WINDOW_S = 300;
/** Time before its expiry at which a token is replaced. */
const TOKEN_MARGIN_MS = 1_000;
/** All currencies of this bank have two decimal places. */
const DECIMALS = 2;

/** Converts 1234 to `12.34` without floating-point numbers. */
export function decimalOf(amount: number): string {
  const digits = String(amount).padStart(DECIMALS + 1, '0');
  return `${digits.slice(0, -DECIMALS)}.${digits.slice(-DECIMALS)}`;
}

export function minorUnitsOf(decimal: string): number {
  const [, integerPart, fraction] = /^(\d+)\.(\d{2})$/.exec(decimal) ?? [];
  if (integerPart === undefined) {
    throw new Error(`The amount ${decimal} must have two decimal places.`);
  }
  return Number(integerPart + fraction);
}

/**
 * Returns the event of a webhook, or undefined if its signature is invalid or its time is more than
 * five minutes from now.
 */
export function bankEventOf(secret: string, signature: string, body: string) {
  const [, time = '', mac = ''] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(signature) ?? [];
  const expectedMac = createHmac('sha256', secret).update(`${time}.${body}`).digest();
  const isRecent = Math.abs(Date.now() / 1_000 - Number(time)) <= WEBHOOK_WINDOW_S;
  const isSigned = mac !== '' && timingSafeEqual(Buffer.from(mac, 'hex'), expectedMac);
  return isSigned && isRecent ? (JSON.parse(body) as BankEvent) : undefined;
}

export function bankApi({ url, clientId, clientSecret }: BankSettings) {
  let token = { value: '', expiresAt: 0 };

  async function accessToken(): Promise<string> {
    if (token.expiresAt - TOKEN_MARGIN_MS > Date.now()) return token.value;
    const credentials = Buffer.from(`${clientId}:${clientSecret}`).toString('base64');
    const reply = await fetch(`${url}/oauth/token`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${credentials}`,
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: 'grant_type=client_credentials',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (!reply.ok) throw new Error(`The bank responded to /oauth/token with ${reply.status}.`);
    const { access_token: value, expires_in: seconds } = await reply.json();
    token = { value, expiresAt: Date.now() + seconds * 1_000 };
    return value;
  }

  async function call(method: string, path: string, body?: object) {
    const reply = await fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${await accessToken()}`,
        'content-type': 'application/json',
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    return { status: reply.status, body: await reply.json() };
  }

  return {
    /** Orders a payment. Throws if its result is unknown. */
    async pay(order: object): Promise<BankPayment | 'invalid'> {
      const { status, body } = await call('POST', '/v2/payments', order);
      if (status === 201) return body;
      if (status === 422) return 'invalid';
      throw new Error(`The bank responded with the status ${status}.`);
    },
    async find(endToEndId: string): Promise<BankPayment | undefined> {
      const path = `/v2/payments?end_to_end_id=${encodeURIComponent(endToEndId)}`;
      const { status, body } = await call('GET', path);
      if (status !== 200) throw new Error(`The bank responded with the status ${status}.`);
      return body.payments[0];
    },
    /** Whether the payment was canceled. */
    async cancel(paymentId: string): Promise<boolean> {
      return (await call('DELETE', `/v2/payments/${paymentId}`)).status === 200;
    },
  };
}
