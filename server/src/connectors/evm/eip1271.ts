// The call of EIP-1271 in bytes, and what a node's answer to it means. `isValidSignature(bytes32,bytes)` is
// asked of the wallet's own code; the one value that means yes is the call's selector. An account without
// code answers nothing, which is a no; only an answer that speaks of neither is none.

const SELECTOR = '1626ba7e';
const WORD = 32;

const word = (hex: string): string => hex.padStart(2 * WORD, '0');

/** Input data that asks whether `signature` is good for `digest`. */
export function callData(digest: Uint8Array, signature: Uint8Array): string {
  const padded = Buffer.alloc(Math.ceil(signature.length / WORD) * WORD);
  padded.set(signature);
  return [
    `0x${SELECTOR}`,
    Buffer.from(digest).toString('hex'),
    word((2 * WORD).toString(16)),
    word(signature.length.toString(16)),
    padded.toString('hex'),
  ].join('');
}

interface Answer {
  result?: unknown;
  error?: { code?: unknown; message?: unknown };
}

function answerOf(text: string): Answer {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}

/** JSON-RPC has 3 for a call that reverted; nodes that do not say so in words. */
const reverted = ({ code, message }: { code?: unknown; message?: unknown }): boolean =>
  code === 3 || /revert/i.test(String(message));

/** What the body of the answer says; undefined where it says neither yes nor no. */
export function verdictOf(body: string): boolean | undefined {
  const { result, error } = answerOf(body);
  if (error) return reverted(error) ? false : undefined;
  if (typeof result !== 'string' || !/^0x(?:[0-9a-fA-F]{2})*$/.test(result)) return undefined;
  // Four bytes at the front of a word; what follows them in the word is zero.
  return result.toLowerCase() === `0x${SELECTOR.padEnd(2 * WORD, '0')}`;
}
