// Malformed keys, signatures and tokens in every field of these types. Examples are truncated and oversized
// encodings, keys of other types, points that are not on the curve, and tokens without a signature.
import { createECDH, generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { Json, Operation } from '../requests/document.ts';
import { bodyFor, pathFor, queryFor } from '../requests/values.ts';
import { type Attack, authorizationFor, type Session } from '../session.ts';
import { requestBytes } from '../target/tenants.ts';
import type { ProviderTarget } from './replay.ts';

const FIELDS =
  /key|signature|stamp|token|bundle|pem|attestation|assertion|proof|jwt|challenge|code$/i;

function createMalformedKeys(): string[] {
  const exportPem = ({ publicKey }: { publicKey: KeyObject }) =>
    String(publicKey.export({ type: 'spki', format: 'pem' }));
  const validKey = exportPem(generateKeyPairSync('ed25519'));
  const curve = createECDH('prime256v1');
  curve.generateKeys();
  const point = curve.getPublicKey('hex', 'uncompressed');
  const encodeSegment = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claims = encodeSegment({
    iss: 'https://accounts.google.com',
    sub: 'x',
    aud: 'x',
    exp: 4e9,
  });
  const otherCurve = createECDH('secp256k1');
  otherCurve.generateKeys();
  return [
    // Keys.
    ...[validKey.slice(0, -30), validKey.replace('PUBLIC', 'PRIVATE'), validKey.repeat(30)],
    ...[
      exportPem(generateKeyPairSync('rsa', { modulusLength: 1_024 })),
      exportPem(generateKeyPairSync('x25519')),
    ],
    ...[
      exportPem(generateKeyPairSync('ec', { namedCurve: 'secp384r1' })),
      `-----BEGIN PUBLIC KEY-----\n\n-----END`,
    ],
    '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n',
    // Points: not on the curve, at infinity, of another curve, with a wrong prefix or length.
    ...[`04${'0'.repeat(128)}`, `04${'f'.repeat(128)}`, '00', `05${point.slice(2)}`],
    ...[
      point.slice(0, -2),
      `${point}00`,
      otherCurve.getPublicKey('hex', 'compressed'),
      `02${'0'.repeat(64)}`,
    ],
    `02${'f'.repeat(64)}`,
    // Tokens.
    ...[
      `${encodeSegment({ alg: 'none' })}.${claims}.`,
      `${encodeSegment({ alg: 'HS256' })}.${claims}.AAAA`,
    ],
    ...[
      `${encodeSegment({ alg: 'RS256', jku: 'http://127.0.0.1:9/k', kid: '../../x' })}.${claims}.AA`,
    ],
    ...[
      '..',
      'a.b.c',
      `${encodeSegment({ alg: ['none'] })}.${claims}.`,
      `e30.${'A'.repeat(20_000)}.`,
    ],
    // Signatures: DER without content, negative, too long, and JSON of a stamp in base64.
    ...['3000', '3006020100020100', '30460221', `3080${'00'.repeat(40)}`, 'AAAA', '=', '!!!!'],
    Buffer.from(JSON.stringify({ publicKey: point, signature: '30', scheme: 'x' })).toString(
      'base64url',
    ),
    Buffer.from(JSON.stringify({ publicKey: [], signature: {}, scheme: null })).toString(
      'base64url',
    ),
    Buffer.from('{"publicKey"').toString('base64url'),
    // CBOR of attestations: an endless map, and a depth of 1,000.
    Buffer.from('bf'.repeat(10), 'hex').toString('base64url'),
    Buffer.alloc(1_000, 0x81).toString('base64url'),
    Buffer.from('a363666d74646e6f6e65', 'hex').toString('base64url'),
    ...['', '\u0000', '0'.repeat(65), 'g'.repeat(66)],
  ];
}

const MALFORMED_VALUES = createMalformedKeys();

/**
 * Replaces the values of fields for keys, signatures and tokens, except IDs. Returns the number of
 * replaced values.
 */
function replaceFields(value: Json, session: Session, name = ''): number {
  if (!value || typeof value !== 'object') return 0;
  let count = 0;
  for (const key of Object.keys(value)) {
    const isText = typeof value[key] === 'string';
    if (isText && (FIELDS.test(key) || FIELDS.test(name)) && !value[key].includes(':019')) {
      value[key] = session.chance.pick(MALFORMED_VALUES);
      count++;
    } else count += replaceFields(value[key], session, key);
  }
  return count;
}

const hasKeyFields = ({ body }: Operation): boolean =>
  body !== undefined && FIELDS.test(JSON.stringify([body.schema, body.examples]));

async function sendMalformed(session: Session): Promise<void> {
  const { chance, callers, connection, documents } = session;
  const source = { chance, ids: callers.attacker.ids, documents };
  const operationsWithKeys = documents.operations.filter(hasKeyFields);
  const operation = chance.pick(operationsWithKeys);
  const body = bodyFor(operation, source);
  const replacedCount = replaceFields(body, session);
  const authorization = authorizationFor(operation, session);
  if (authorization === callers.operator) return;
  const query = new URLSearchParams(queryFor(operation, source)).toString();
  const path = pathFor(operation, source) + (query ? `?${query}` : '');
  const signature = chance.percent(30)
    ? chance.pick(MALFORMED_VALUES).replaceAll(/[\r\n\0]/g, '')
    : undefined;
  const bytes = requestBytes({
    ...{ method: operation.method, path, body: JSON.stringify(body) },
    headers: [
      ...(authorization ? [['authorization', authorization] as const] : []),
      ['content-type', 'application/json'],
      ...(signature
        ? ([
            ['service-wallet-signature', signature],
            ['request-id', 'Request:019b8d60-2a80-7000-8000-000000000001'],
          ] as const)
        : []),
    ],
  });
  const reply = await connection.send(bytes);
  const text = bytes.toString();
  session.record(
    { attack: 'cryptography', method: operation.method, path, text, operation },
    reply,
  );
  const isRejected = typeof reply !== 'string' && reply.status === 401;
  if (isRejected && replacedCount === 0 && !operation.isPublic) await callers.renew();
}

const SIGNATURE_INPUTS = [
  ...['', 'railhead=', 'railhead=()', 'x=("@method");created=1', '"', 'railhead=("@method"'],
  'railhead=("@method" "@authority" "@path" "content-digest");created=1e9;keyid="x";alg="none"',
  `railhead=(${'"@method" '.repeat(1_000)});created=1`,
  'railhead=("@method" "@authority" "@path" "content-digest");created=99999999999999999999;keyid=1',
];

/** Sends a message of a provider with malformed signature headers. */
async function sendUnsignedMessage(
  session: Session,
  { providerId }: ProviderTarget,
): Promise<void> {
  const { chance, connection } = session;
  const withoutControls = (text: string) => text.replaceAll(/[\r\n\0]/g, '').slice(0, 6_000);
  const path = `/connectors/${chance.pick([providerId, 'unknown', '__proto__', '%00'])}`;
  const bytes = requestBytes({
    ...{ method: 'POST', path, body: chance.pick(['{}', '', '{"id":1', 'x'.repeat(300_000)]) },
    headers: [
      ['content-type', 'application/json'],
      [
        'content-digest',
        withoutControls(
          chance.pick([...MALFORMED_VALUES, 'sha-256=:AAAA:', 'md5=:AAAA:', 'sha-256=']),
        ),
      ],
      ['signature-input', withoutControls(chance.pick(SIGNATURE_INPUTS))],
      ['signature', withoutControls(`railhead=:${chance.pick(MALFORMED_VALUES)}:`)],
    ],
  });
  const reply = await connection.send(bytes);
  const isAccepted = typeof reply !== 'string' && reply.status < 400;
  const problems = isAccepted ? ['a message without a valid signature was accepted'] : [];
  const sentRequest = { attack: 'cryptography', method: 'POST', path, text: bytes.toString() };
  session.record(sentRequest, reply, problems);
}

export const cryptographyAttack = (provider: ProviderTarget): Attack => ({
  ...{ name: 'cryptography', weight: 6 },
  run: (session) =>
    session.chance.percent(85) ? sendMalformed(session) : sendUnsignedMessage(session, provider),
});
