// A text message service that responds immediately. While it hangs, it accepts every request and
// responds to none until it is released.
import http from 'node:http';
import type net from 'node:net';
import { serveJobs } from '../machine/worker-channel.ts';

const openResponses = new Set<http.ServerResponse>();
let isHanging = false;
let maxWaitingCount = 0;

const respond = (reply: http.ServerResponse) => {
  reply.statusCode = 204;
  reply.end();
};

function listen(): Promise<number> {
  const server = http.createServer((request, reply) => {
    request.resume();
    if (!isHanging) return respond(reply);
    openResponses.add(reply);
    maxWaitingCount = Math.max(maxWaitingCount, openResponses.size);
    reply.on('close', () => openResponses.delete(reply));
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as net.AddressInfo).port));
  });
}

serveJobs({
  listen,
  hang: () => {
    isHanging = true;
    maxWaitingCount = 0;
  },
  /** Responds to all waiting requests. Returns the maximum number that waited at one time. */
  release: () => {
    isHanging = false;
    for (const reply of openResponses) respond(reply);
    openResponses.clear();
    return maxWaitingCount;
  },
});
