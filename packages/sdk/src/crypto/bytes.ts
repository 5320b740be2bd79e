// Text encodings of bytes, for keys and signatures.

export type Bytes = Uint8Array<ArrayBuffer>;

export const utf8 = (text: string): Bytes => new Uint8Array(new TextEncoder().encode(text));

export const fromUtf8 = (bytes: ArrayBuffer | Uint8Array): string =>
  new TextDecoder().decode(bytes);

/** Decodes base64 and base64url. */
export function fromBase64(text: string): Bytes {
  const standardText = text.replaceAll('-', '+').replaceAll('_', '/');
  return Uint8Array.from(atob(standardText), (each) => each.charCodeAt(0));
}

export function toBase64Url(bytes: ArrayBuffer | Uint8Array): string {
  const text = Array.from(new Uint8Array(bytes), (each) => String.fromCharCode(each)).join('');
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

export const toHex = (bytes: ArrayBuffer | Uint8Array): string =>
  Array.from(new Uint8Array(bytes), (each) => each.toString(16).padStart(2, '0')).join('');

export function fromHex(text: string): Bytes {
  if (!/^(?:[0-9a-f]{2})*$/i.test(text)) {
    throw new TypeError('The text must be hexadecimal, with two digits for each byte.');
  }
  return Uint8Array.from(text.match(/../g) ?? [], (each) => Number.parseInt(each, 16));
}

export function concat(...parts: readonly Uint8Array[]): Bytes {
  const result = new Uint8Array(parts.reduce((total, { length }) => total + length, 0));
  let offset = 0;
  for (const part of parts) {
    result.set(part, offset);
    offset += part.length;
  }
  return result;
}
