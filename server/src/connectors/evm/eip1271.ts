// The call of EIP-1271 in bytes, and the meaning of a node's response. The function
// `isValidSignature(bytes32,bytes)` runs the code of the wallet. The signature is valid if the
// result is the selector of the call, and invalid after any other result or a reverted call. Other
// responses are inconclusive.

const SELECTOR = '1626ba7e';
const WORD = 32;

const word = (hex: string): string => hex.padStart(2 * WORD, '0');

/** Input data that verifies `signature` over `digest`. */
export function callData(digest: Uint8Array, signature: Uint8Array): string {
  const paddedSignature = Buffer.alloc(Math.ceil(signature.length / WORD) * WORD);
  paddedSignature.set(signature);
  return [
    `0x${SELECTOR}`,
    Buffer.from(digest).toString('hex'),
    word((2 * WORD).toString(16)),
    word(signature.length.toString(16)),
    paddedSignature.toString('hex'),
  ].join('');
}

interface RpcResponse {
  result?: unknown;
  error?: { code?: unknown; message?: unknown };
}

function responseOf(text: string): RpcResponse {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}

/**
 * 3 is the JSON-RPC code of a reverted call. Some nodes report a reverted call only in the text.
 */
const isRevert = ({ code, message }: { code?: unknown; message?: unknown }): boolean =>
  code === 3 || /revert/i.test(String(message));

/** Whether the response confirms the signature. Undefined if it is inconclusive. */
export function verdictOf(body: string): boolean | undefined {
  const { result, error } = responseOf(body);
  if (error) return isRevert(error) ? false : undefined;
  if (typeof result !== 'string' || !/^0x(?:[0-9a-fA-F]{2})*$/.test(result)) return undefined;
  // Four bytes at the start of a word. The remaining bytes are zero.
  return result.toLowerCase() === `0x${SELECTOR.padEnd(2 * WORD, '0')}`;
}
