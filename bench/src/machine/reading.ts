// Reads an HTTP/1.1 response from a socket. Only status and end are parsed, because the client
// takes processor time from the measured server.

/**
 * A response that is being received. `total` is -1 until the head is complete, and remains -1 if
 * the head has no content length.
 */
interface Reading {
  receivedHead: string;
  status: number;
  total: number;
  receivedBytes: number;
}

export const newReading = (): Reading => ({
  receivedHead: '',
  status: 0,
  total: -1,
  receivedBytes: 0,
});

/** Adds received bytes. Returns true if the response is complete. */
export function addChunk(reading: Reading, chunk: Buffer): boolean {
  reading.receivedBytes += chunk.length;
  if (reading.total >= 0) return reading.receivedBytes >= reading.total;
  reading.receivedHead += chunk.toString('latin1');
  const end = reading.receivedHead.indexOf('\r\n\r\n');
  if (end < 0) return false;
  reading.status = Number(reading.receivedHead.slice(9, 12));
  const length = /\r\ncontent-length: *(\d+)/i.exec(reading.receivedHead);
  if (length) {
    reading.total = end + 4 + Number(length[1]);
    return reading.receivedBytes >= reading.total;
  }
  return reading.receivedHead.endsWith('0\r\n\r\n'); // chunked
}
