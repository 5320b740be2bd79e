// Body and signature headers of an event, whose body is identical in every attempt. The signature
// of the service covers the body only, for existing receivers. The optional signature of Standard
// Webhooks also covers ID and timestamp, which protects receivers against replays.
import { type KeyObject, sign } from 'node:crypto';
import type { Naming } from '../../../catalog/naming.ts';
import { iso, type Time } from '../../../kernel/effects.ts';
import { eventContext } from '../../../runtime/operation/event-data.ts';
import type { SigningKey } from '../../../runtime/security/key-ring.ts';
import type { Vault } from '../../../runtime/security/vault.ts';
import { testEvent } from '../../tenancy/config/index.ts';
import type { EventFormat } from '../endpoints/index.ts';

export interface StoredEvent {
  id: string;
  type: string;
  /** ID of the resource that the event is about. */
  subject: string;
  /** The resource as JSON text. */
  data: string;
  /** Committed balance of the ledger account of a balance event, or null for other events. */
  balance: bigint | null;
  held: bigint | null;
  created_at: Time;
}

/** The stored data of an event and its key. */
interface SealedData {
  id: string;
  data: string;
  /** Customer whose data key encrypts the data, or null if the data is not encrypted. */
  sealed_for: string | null;
  /** Null if the data is not encrypted, and after an erasure. */
  data_key: string | null;
}

/**
 * The data of an event in clear, or undefined if it was erased. Throws if it cannot be decrypted.
 */
export function openData(vault: Pick<Vault, 'open'>, event: SealedData): string | undefined {
  const { id, data, sealed_for: owner, data_key: sealedKey } = event;
  // An erased event has no data, even if its customer still has a key.
  if (data === '') return undefined;
  if (owner === null) return data;
  if (sealedKey === null) return undefined;
  return vault.open({ owner, sealed: sealedKey }, data, eventContext(id)).toString();
}

const DEFAULT_PREFIX = 'Service';

interface WithAmounts {
  balance: { amount: number };
  totalBalance: { amount: number };
}

/**
 * Sets the committed amounts in the account of a balance event. `balance` and `held` are the
 * columns of the event's row.
 */
export function withBalances<T extends WithAmounts>(data: T, balance: bigint, held: bigint): T {
  return {
    ...data,
    balance: { ...data.balance, amount: Number(balance - held) },
    totalBalance: { ...data.totalBalance, amount: Number(balance) },
  };
}

function dataOf(event: StoredEvent, naming: Naming, format: EventFormat): string {
  if (event.type === testEvent.type) return '{}';
  if (format === 'THIN') return JSON.stringify({ id: event.subject });
  // Most events are sent as stored, without parsing.
  if (event.balance === null && naming.prefix === DEFAULT_PREFIX) return event.data;
  const data: unknown = JSON.parse(event.data);
  const shownResource =
    event.balance === null
      ? data
      : withBalances(data as Parameters<typeof withBalances>[0], event.balance, event.held ?? 0n);
  return JSON.stringify(naming.toApiNames(shownResource));
}

/**
 * The body of an event. It depends only on the row, the service name prefix and the format, so
 * retries send the same bytes.
 */
export function bodyOf(event: StoredEvent, naming: Naming, format: EventFormat = 'FULL'): string {
  const testField = event.type === testEvent.type ? '"test":true,' : '';
  const [id, type, time] = [event.id, event.type, iso(event.created_at)].map((each) =>
    JSON.stringify(each),
  );
  const data = dataOf(event, naming, format);
  return `{${testField}"id":${id},"type":${type},"timestamp":${time},"data":${data}}`;
}

const toBase64 = (bytes: Buffer) => bytes.toString('base64');

const secondsOf = (now: Time) => String(Math.floor(now / 1_000));

/**
 * The text that Standard Webhooks signs. It contains the time, so each attempt has a different
 * signature.
 */
export const signedText = (id: string, body: string, now: Time) =>
  `${id}.${secondsOf(now)}.${body}`;

/**
 * The service's Ed25519 signatures of Standard Webhooks (`v1a`). After a rotation the superseded
 * key also signs, for receivers that have not changed to the new key.
 */
export const standardSignature = (
  text: string,
  { standard, earlierStandard }: Pick<SigningKey, 'standard' | 'earlierStandard'>,
): string =>
  [standard.privateKey, ...earlierStandard]
    .map((key) => `v1a,${toBase64(sign(null, Buffer.from(text), key))}`)
    .join(' ');

/** The three headers of Standard Webhooks. */
export const standardHeaders = (id: string, now: Time, signature: string) => ({
  'webhook-id': id,
  'webhook-timestamp': secondsOf(now),
  'webhook-signature': signature,
});

/** Signatures of the service. A signature depends only on the event, the format and the key. */
export interface Signatures {
  of(eventId: string, format: EventFormat, body: string, key: SigningKey): string;
}

/**
 * Maximum number of cached signatures. Several endpoints receive an event at about the same time.
 */
const MAX_CACHED_SIGNATURES = 512;

/** The signature of the service over a body. */
export const signatureOf = (body: string, key: SigningKey) =>
  toBase64(sign('sha256', Buffer.from(body), key.privateKey));

export function createSignatures(): Signatures {
  const cache = new Map<string, { key: KeyObject; signature: string }>();
  return {
    of(eventId, format, body, key) {
      const name = format === 'FULL' ? eventId : `${eventId} ${format}`;
      const cachedEntry = cache.get(name);
      if (cachedEntry?.key === key.privateKey) return cachedEntry.signature;
      const [oldestName] = cache.keys();
      if (cache.size >= MAX_CACHED_SIGNATURES && oldestName !== undefined) cache.delete(oldestName);
      const signature = signatureOf(body, key);
      cache.set(name, { key: key.privateKey, signature });
      return signature;
    },
  };
}

/** The headers of every delivery, with the signature of the service. */
export function headersOf(
  signature: string,
  key: Pick<SigningKey, 'keyId'>,
  naming: Naming,
): Record<string, string> {
  return {
    'content-type': 'application/json',
    'user-agent': 'Railhead-Webhooks/1',
    [naming.webhookSignatureHeader]: signature,
    [naming.webhookKeyIdHeader]: key.keyId,
  };
}
