// A webhook receiver with minimal cost, so that only the sender is measured. The receiver counts
// requests and returns an empty 200 for each.
import net from 'node:net';
import { serveJobs } from '../machine/worker-channel.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';
let receivedCount = 0;

/** Counts requests on one connection. A chunk may contain a part of a request, or two requests. */
function listenTo(socket: net.Socket): void {
  let headText = '';
  let missingBytes = 0;
  const readText = (text: string): void => {
    if (missingBytes > 0) {
      const length = Math.min(missingBytes, text.length);
      missingBytes -= length;
      if (missingBytes === 0) finish();
      if (length < text.length) readText(text.slice(length));
      return;
    }
    headText += text;
    const end = headText.indexOf('\r\n\r\n');
    if (end < 0) return;
    const bodyText = headText.slice(end + 4);
    missingBytes = Number(/\r\ncontent-length: *(\d+)/i.exec(headText)?.[1] ?? 0);
    headText = '';
    if (missingBytes === 0) finish();
    if (bodyText) readText(bodyText);
  };
  const finish = () => {
    receivedCount++;
    socket.write(OK, 'latin1');
  };
  socket.setNoDelay(true);
  socket.setEncoding('latin1');
  socket.on('data', (text) => readText(String(text)));
  socket.on('error', () => socket.destroy());
}

serveJobs({
  listen: () =>
    new Promise<number>((resolve) => {
      const server = net.createServer(listenTo);
      server.listen(0, '127.0.0.1', () => resolve((server.address() as net.AddressInfo).port));
    }),
  count: () => receivedCount,
});
