// Row 6: parsing and verifying a wallet's stamp. The peer is a P-256 verification of the same signatures by
// node:crypto. The key of the peer is prepared if the key is known, and is the compressed point of the
// stamp if the key is new. Both sides run in this process, one after the other on one thread.
import { createPrivateKey, createPublicKey, ECDH, type KeyObject, sign, verify } from 'node:crypto';
import { parseStamp, verifyStamp } from '../../../server/src/features/wallets/signing/stamp.ts';
import { compressedPoint, generateP256, p256Jwk } from '../../../server/src/kernel/crypto/p256.ts';
import { systemEffects } from '../../../server/src/runtime/config/system-effects.ts';
import type { Bench } from '../machine/bench.ts';
import { alternate, type Row, sideOf } from '../table/row.ts';
import { createTally, type Run } from '../table/stats.ts';

interface Case {
  key: KeyObject;
  point: string;
  text: string;
  bytes: Buffer;
  signature: Buffer;
  header: string;
}

/** Typical length of a payload that wallets sign. */
const LENGTH = 400;
/** Numbers of keys below and above the size of the server's cache. */
const [KNOWN_KEYS, NEW_KEYS] = [100, 5_000];

function createCases(count: number): Case[] {
  const effects = systemEffects();
  return Array.from({ length: count }, (_, index) => {
    const pair = generateP256(() => effects.random(32));
    const privateKey = createPrivateKey({ format: 'jwk', key: p256Jwk(pair) });
    const text = `${index}`.padEnd(LENGTH, '.');
    const bytes = Buffer.from(text);
    const signature = sign('sha256', bytes, privateKey);
    const point = compressedPoint(pair.point.toString('hex')) as string;
    const stamp = {
      publicKey: point,
      scheme: 'SIGNATURE_SCHEME_TK_API_P256',
      signature: signature.toString('hex'),
    };
    const header = Buffer.from(JSON.stringify(stamp)).toString('base64url');
    return { key: createPublicKey(privateKey), point, text, bytes, signature, header };
  });
}

type Check = (stampCase: Case) => boolean;

const verifyWithKey: Check = ({ key, bytes, signature }) => verify('sha256', bytes, key, signature);

/** The fastest verification from a compressed point with node:crypto. */
const verifyFromPoint: Check = ({ point, bytes, signature }) => {
  const uncompressedPoint = ECDH.convertKey(
    point,
    'prime256v1',
    'hex',
    undefined,
    'uncompressed',
  ) as Buffer;
  const coordinateAt = (from: number) =>
    uncompressedPoint.subarray(from, from + 32).toString('base64url');
  const key = { kty: 'EC', crv: 'P-256', x: coordinateAt(1), y: coordinateAt(33) };
  return verify('sha256', bytes, createPublicKey({ format: 'jwk', key }), signature);
};

function verifyWithServerCode({ header, text }: Case): boolean {
  const stamp = parseStamp(header);
  return stamp !== undefined && verifyStamp(stamp, text);
}

function measure(bench: Bench, cases: readonly Case[], check: Check): Run {
  const { warmupMs, seconds } = bench.settings;
  // One thread without input or output has a steady rate, so half the time suffices.
  const tally = createTally(warmupMs, seconds / 2);
  for (let index = 0; tally.isRunning(); index++) {
    const start = performance.now();
    if (check(cases[index % cases.length] as Case)) tally.ok(start);
    else tally.error('a valid signature was rejected');
  }
  return tally.result();
}

interface RowOptions {
  id: string;
  keys: string;
  count: number;
  peer: Check;
}

async function measureRow(bench: Bench, { id, keys, count, peer }: RowOptions): Promise<Row> {
  const cases = createCases(count);
  const runs = await alternate(
    {
      railhead: async () => measure(bench, cases, verifyWithServerCode),
      peer: async () => measure(bench, cases, peer),
    },
    bench.settings.rounds,
  );
  return {
    id,
    label: `verifying a stamp, ${keys}`,
    unit: '/s',
    railhead: sideOf('one thread', runs.railhead),
    peer: sideOf('node:crypto, one thread', runs.peer),
    target: 0.5,
  };
}

export const stampRows = async (bench: Bench): Promise<Row[]> => [
  await measureRow(bench, { id: '6a', keys: 'known key', count: KNOWN_KEYS, peer: verifyWithKey }),
  await measureRow(bench, { id: '6b', keys: 'new key', count: NEW_KEYS, peer: verifyFromPoint }),
];
