// Two computations on P-256 that Web Crypto does not offer: the public key of a private key, and
// the second coordinate of a compressed point. They use `bigint` arithmetic, which is not
// constant-time. Call them on the device of the wallet's owner only.
import { type Bytes, concat, fromHex, toHex } from '../crypto/bytes.ts';

const P = 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n;
const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
const B = 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn;
const GENERATOR: Point = {
  x: 0x6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296n,
  y: 0x4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5n,
  z: 1n,
};

/**
 * A point in Jacobian coordinates. Its affine coordinates are `x / z²` and `y / z³`, so that only
 * the last step divides.
 */
interface Point {
  x: bigint;
  y: bigint;
  z: bigint;
}

const COORDINATE_BYTES = 32;
const mod = (value: bigint) => ((value % P) + P) % P;

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  let square = mod(base);
  for (let remainingBits = exponent; remainingBits > 0n; remainingBits >>= 1n) {
    if (remainingBits & 1n) result = (result * square) % P;
    square = (square * square) % P;
  }
  return result;
}

function double({ x, y, z }: Point): Point {
  const [delta, gamma] = [mod(z * z), mod(y * y)];
  const beta = mod(x * gamma);
  const alpha = mod(3n * (x - delta) * (x + delta));
  const nextX = mod(alpha * alpha - 8n * beta);
  return {
    x: nextX,
    y: mod(alpha * (4n * beta - nextX) - 8n * gamma * gamma),
    z: mod((y + z) ** 2n - gamma - delta),
  };
}

/** Adds two points that are neither equal nor opposite. */
function add(a: Point, b: Point): Point {
  const [zz1, zz2] = [mod(a.z * a.z), mod(b.z * b.z)];
  const [u1, s1] = [mod(a.x * zz2), mod(a.y * b.z * zz2)];
  const h = mod(b.x * zz1 - u1);
  const r = mod(b.y * a.z * zz1 - s1);
  const [hh, hhh] = [mod(h * h), mod(h * h * h)];
  const v = mod(u1 * hh);
  const x = mod(r * r - hhh - 2n * v);
  return { x, y: mod(r * (v - x) - s1 * hhh), z: mod(a.z * b.z * h) };
}

/**
 * Multiplies the generator. The lower bits of the scalar are less than the next power of two, and
 * their sum with it is less than the order. The added points are therefore neither equal nor
 * opposite.
 */
function multiplyGenerator(scalar: bigint): { x: bigint; y: bigint } {
  let result: Point | undefined;
  let addend = GENERATOR;
  for (let remainingBits = scalar; remainingBits > 0n; remainingBits >>= 1n) {
    if (remainingBits & 1n) result = result ? add(result, addend) : addend;
    addend = double(addend);
  }
  const { x, y, z } = result as Point;
  const inverse = power(z, P - 2n);
  return { x: mod(x * inverse ** 2n), y: mod(y * inverse ** 3n) };
}

const bytesOf = (value: bigint): Bytes =>
  fromHex(value.toString(16).padStart(2 * COORDINATE_BYTES, '0'));
const numberOf = (bytes: Uint8Array) => BigInt(`0x${toHex(bytes)}`);

/** The uncompressed public key of a private key. */
export function publicPoint(scalar: Uint8Array): Bytes {
  const number = numberOf(scalar);
  if (scalar.length !== COORDINATE_BYTES || number === 0n || number >= ORDER) {
    throw new TypeError('The private key must be a P-256 key of 32 bytes.');
  }
  const { x, y } = multiplyGenerator(number);
  return concat(Uint8Array.of(4), bytesOf(x), bytesOf(y));
}

export const compress = (point: Uint8Array): Bytes =>
  concat(
    Uint8Array.of(2 + ((point[2 * COORDINATE_BYTES] as number) & 1)),
    point.subarray(1, 1 + COORDINATE_BYTES),
  );

const INVALID_POINT = 'The public key must be a P-256 point of 33 or 65 bytes.';

/** Decompresses a point, if it is compressed. Web Crypto verifies later that it is on the curve. */
export function uncompress(point: Uint8Array): Bytes {
  if (point.length === 1 + 2 * COORDINATE_BYTES && point[0] === 4) return new Uint8Array(point);
  const parity = (point[0] ?? 0) - 2;
  if (point.length !== 1 + COORDINATE_BYTES || (parity !== 0 && parity !== 1)) {
    throw new TypeError(INVALID_POINT);
  }
  const x = numberOf(point.subarray(1));
  const square = mod(x ** 3n - 3n * x + B);
  const root = power(square, (P + 1n) / 4n);
  if (mod(root * root) !== square) throw new TypeError(INVALID_POINT);
  const y = Number(root & 1n) === parity ? root : P - root;
  return concat(Uint8Array.of(4), bytesOf(x), bytesOf(y));
}
