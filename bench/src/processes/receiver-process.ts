// A webhook receiver with minimal cost, so that the sender is measured: it counts requests and
// returns an empty 200 for each.
import net from 'node:net';
import { serveJobs } from '../machine/worker-channel.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';
let received = 0;

/** Counts requests on one connection. A request may arrive in several chunks, or two in one. */
function listenTo(socket: net.Socket): void {
  let head = '';
  let missing = 0;
  const readText = (text: string): void => {
    if (missing > 0) {
      const length = Math.min(missing, text.length);
      missing -= length;
      if (missing === 0) finish();
      if (length < text.length) readText(text.slice(length));
      return;
    }
    head += text;
    const end = head.indexOf('\r\n\r\n');
    if (end < 0) return;
    const bodyText = head.slice(end + 4);
    missing = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
    head = '';
    if (missing === 0) finish();
    if (bodyText) readText(bodyText);
  };
  const finish = () => {
    received++;
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
  count: () => received,
});
