// The bytes of the contract call, and the meaning of each response.
import { describe, expect, it } from 'vitest';
import { callData, verdictOf } from './eip1271.ts';

describe('callData', () => {
  it('is the call in the encoding of the contract ABI', () => {
    // Solidity's ABI: selector, digest, offset of the bytes, their length, the bytes padded to
    // words.
    const digest = Buffer.alloc(32, 0x11);
    expect(callData(digest, Buffer.alloc(65, 0xab))).toBe(
      `0x1626ba7e${'11'.repeat(32)}${'40'.padStart(64, '0')}${'41'.padStart(64, '0')}` +
        `${'ab'.repeat(65)}${'00'.repeat(31)}`,
    );
    expect(callData(digest, Buffer.alloc(32, 0xab))).toHaveLength(2 + 8 + 4 * 64);
    expect(callData(digest, new Uint8Array())).toHaveLength(2 + 8 + 3 * 64);
  });
});

describe('verdictOf', () => {
  const result = (text: unknown) => JSON.stringify({ jsonrpc: '2.0', id: 1, result: text });
  const error = (code: unknown, message: unknown) => JSON.stringify({ error: { code, message } });

  it('returns true for the magic value in upper or lower case', () => {
    expect(verdictOf(result(`0x1626ba7e${'00'.repeat(28)}`))).toBe(true);
    expect(verdictOf(result(`0x1626BA7E${'00'.repeat(28)}`))).toBe(true);
  });

  it.each([
    result('0x'),
    result('0x1626ba7e'),
    result(`0x${'00'.repeat(28)}1626ba7e`),
    result(`0x1626ba7e${'00'.repeat(27)}01`),
    result(`0x1626ba7e${'00'.repeat(60)}`),
    result(`0x${'00'.repeat(32)}`),
    error(3, 'execution reverted'),
    error(-32000, 'VM Exception: REVERT opcode'),
  ])('returns false for %s', (response) => {
    expect(verdictOf(response)).toBe(false);
  });

  it.each([
    '',
    '<html>',
    'null',
    '[]',
    '{}',
    result(null),
    result(true),
    result('1626ba7e'),
    result('0x123'),
    error(-32005, 'limit exceeded'),
    error(-32000, 'header not found'),
    error(undefined, undefined),
  ])('returns undefined for %s', (response) => {
    expect(verdictOf(response)).toBeUndefined();
  });
});
