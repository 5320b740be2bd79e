// Reads an HTTP/1.1 response from a socket: its status and its end, nothing else, because all work
// of the bench's client takes processor time from the server that it measures.

/** A partial response. `total` is unknown before its head is complete. */
interface Reading {
  head: string;
  status: number;
  total: number;
  got: number;
}

export const fresh = (): Reading => ({ head: '', status: 0, total: -1, got: 0 });

/** Adds the next bytes; returns true if the response is complete. */
export function take(reading: Reading, chunk: Buffer): boolean {
  reading.got += chunk.length;
  if (reading.total >= 0) return reading.got >= reading.total;
  reading.head += chunk.toString('latin1');
  const end = reading.head.indexOf('\r\n\r\n');
  if (end < 0) return false;
  reading.status = Number(reading.head.slice(9, 12));
  const length = /\r\ncontent-length: *(\d+)/i.exec(reading.head);
  if (length) {
    reading.total = end + 4 + Number(length[1]);
    return reading.got >= reading.total;
  }
  return reading.head.endsWith('0\r\n\r\n'); // chunked
}
