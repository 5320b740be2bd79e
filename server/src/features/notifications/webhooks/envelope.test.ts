// Bodies and signatures of events in both formats.
import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { namingFor } from '../../../catalog/naming.ts';
import { ed25519KeyOf } from '../../../runtime/security/crypto.ts';
import {
  bodyOf,
  createSignatures,
  headersOf,
  type StoredEvent,
  signatureOf,
  signedText,
  standardHeaders,
  standardSignature,
} from './envelope.ts';

const naming = namingFor('Service');
const created_at = Date.UTC(2026, 0, 5, 9);
const createEvent = (overrides: Partial<StoredEvent> = {}): StoredEvent => ({
  id: 'Webhook:0190aaaa-0000-7000-8000-000000000001',
  type: 'OUTGOING_PAYMENT.COMPLETED',
  subject: 'Transaction:1',
  data: '{"id":"Transaction:1","note":"ünï ✓","closeReason":"CLOSED_BY_SERVICE"}',
  balance: null,
  held: null,
  created_at,
  ...overrides,
});

describe('bodyOf', () => {
  it('wraps the stored resource unchanged', () => {
    expect(bodyOf(createEvent(), naming)).toBe(
      '{"id":"Webhook:0190aaaa-0000-7000-8000-000000000001","type":"OUTGOING_PAYMENT.COMPLETED",' +
        '"timestamp":"2026-01-05T09:00:00.000Z",' +
        '"data":{"id":"Transaction:1","note":"ünï ✓","closeReason":"CLOSED_BY_SERVICE"}}',
    );
  });

  it('marks a test event and leaves its data empty', () => {
    const body: unknown = JSON.parse(
      bodyOf(createEvent({ type: 'TEST', data: '{"a":1}' }), naming),
    );
    expect(body).toEqual({
      test: true,
      id: createEvent().id,
      type: 'TEST',
      timestamp: '2026-01-05T09:00:00.000Z',
      data: {},
    });
  });

  it('contains only the ID of the resource in the thin format', () => {
    expect(bodyOf(createEvent(), naming, 'THIN')).toBe(
      '{"id":"Webhook:0190aaaa-0000-7000-8000-000000000001","type":"OUTGOING_PAYMENT.COMPLETED",' +
        '"timestamp":"2026-01-05T09:00:00.000Z","data":{"id":"Transaction:1"}}',
    );
    expect(JSON.parse(bodyOf(createEvent({ type: 'TEST' }), naming, 'THIN')).data).toEqual({});
  });

  it('sets the committed amounts', () => {
    const currency = { code: 'USD' };
    const amounts = { balance: { amount: 0, currency }, totalBalance: { amount: 0, currency } };
    const storedEvent = createEvent({
      type: 'INTERNAL_ACCOUNT.BALANCE_UPDATED',
      data: JSON.stringify({ id: 'InternalAccount:1', ...amounts }),
      balance: 10_050n,
      held: 50n,
    });
    expect(JSON.parse(bodyOf(storedEvent, naming)).data).toEqual({
      id: 'InternalAccount:1',
      balance: { amount: 10_000, currency },
      totalBalance: { amount: 10_050, currency },
    });
    expect(bodyOf(storedEvent, naming)).toBe(bodyOf(structuredClone(storedEvent), naming));
  });

  it('uses the service name prefix of the operator', () => {
    const body = JSON.parse(bodyOf(createEvent(), namingFor('Acme'))) as { data: object };
    expect(body.data).toMatchObject({ closeReason: 'CLOSED_BY_ACME' });
  });
});

describe('standardHeaders', () => {
  it('equal the signatures of the reference library for the same key, id, time and body', () => {
    const seed = Buffer.from('VEVTVFNJR05JTkdLRVlET05PVFVTRVRISVNGT1JBTlk=', 'base64');
    const id = 'msg_p5jXN8AQM9LWM0D4loKWxJek';
    const body = '{"test": 2432232314}';
    const now = 1_614_265_330_999;
    const signature = standardSignature(signedText(id, body, now), {
      standard: { privateKey: ed25519KeyOf(seed), publicKeyPem: '' },
      earlierStandard: [],
    });
    expect(standardHeaders(id, now, signature)).toEqual({
      'webhook-id': id,
      'webhook-timestamp': '1614265330',
      'webhook-signature':
        '' +
        'v1a,tQ9V2XOqn7jL/DQenEFpqIugdBVtiMmER5mhSkXBNwM0mkATuDe6KYYUuxqtaiHeYGb7KaaBRdM5WqyeFiL8Ag==',
    });
  });
});

describe('signatures of an event', () => {
  const keyPair = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const standardKeyPair = generateKeyPairSync('ed25519');
  const toPem = (key: typeof keyPair.publicKey) =>
    key.export({ type: 'spki', format: 'pem' }).toString();
  const key = {
    keyId: 'key-1',
    earlierStandard: [],
    privateKey: keyPair.privateKey,
    publicKeyPem: toPem(keyPair.publicKey),
    standard: {
      privateKey: standardKeyPair.privateKey,
      publicKeyPem: toPem(standardKeyPair.publicKey),
    },
  };

  it('verify with the public keys for the unchanged body only', () => {
    const body = bodyOf(createEvent(), naming);
    const now = 1_700_000_000_123;
    const text = signedText(createEvent().id, body, now);
    const headers: Record<string, string> = {
      ...headersOf(signatureOf(body, key), key, naming),
      ...standardHeaders(createEvent().id, now, standardSignature(text, key)),
    };
    const bytes = Buffer.from(headers['X-Service-Signature'] as string, 'base64');
    const publicKey = createPublicKey(key.publicKeyPem);
    expect(verify('sha256', Buffer.from(body), publicKey, bytes)).toBe(true);
    expect(verify('sha256', Buffer.from(`${body} `), publicKey, bytes)).toBe(false);
    const [version, signature = ''] = (headers['webhook-signature'] as string).split(',');
    expect(version).toBe('v1a');
    const signedBytes = Buffer.from(`${createEvent().id}.1700000000.${body}`);
    const standardKey = createPublicKey(key.standard.publicKeyPem);
    expect(verify(null, signedBytes, standardKey, Buffer.from(signature, 'base64'))).toBe(true);
  });

  it('are computed once for each format', () => {
    const signatures = createSignatures();
    const [fullBody, thinBody] = [
      bodyOf(createEvent(), naming),
      bodyOf(createEvent(), naming, 'THIN'),
    ];
    const firstSignature = signatures.of(createEvent().id, 'FULL', fullBody, key);
    const secondSignature = signatures.of(createEvent().id, 'THIN', thinBody, key);
    const publicKey = createPublicKey(key.publicKeyPem);
    const isVerified = (body: string, signature: string) =>
      verify('sha256', Buffer.from(body), publicKey, Buffer.from(signature, 'base64'));
    expect([isVerified(fullBody, firstSignature), isVerified(thinBody, secondSignature)]).toEqual([
      true,
      true,
    ]);
    // ECDSA uses a random number for each signature, so an equal text shows that the signature
    // was computed once.
    expect(signatures.of(createEvent().id, 'FULL', fullBody, key)).toBe(firstSignature);
    expect(signatures.of(createEvent().id, 'THIN', thinBody, key)).toBe(secondSignature);
  });

  it('are in headers with the service name prefix', () => {
    const headers = headersOf(signatureOf('{}', key), key, namingFor('Acme'));
    expect(headers).toHaveProperty('X-Acme-Signature');
    expect(headers['X-Acme-Signature-Key-Id']).toBe('key-1');
    expect(headers).not.toHaveProperty('X-Service-Signature');
  });
});
