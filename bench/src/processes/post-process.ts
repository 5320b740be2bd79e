// A minimal loop as the peer of the deliverer. The loop POSTs the same body, signed for each
// request, over persistent connections. Each connection sends the next request after a response.
import { generateKeyPairSync, sign } from 'node:crypto';
import { Agent } from 'undici';
import { serveJobs } from '../machine/worker-channel.ts';

export interface PostOptions {
  url: string;
  connections: number;
  body: string;
  /** Number of requests. */
  count: number;
}

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });

async function post({ url, connections, body, count }: PostOptions): Promise<void> {
  const { origin, pathname } = new URL(url);
  const agent = new Agent({ connections, pipelining: 1, connect: { noDelay: true } });
  let remainingCount = count;
  const loop = async () => {
    while (remainingCount-- > 0) {
      const signature = sign('sha256', Buffer.from(body), privateKey).toString('base64');
      const headers = { 'content-type': 'application/json', 'x-signature': signature };
      const reply = await agent.request({ origin, path: pathname, method: 'POST', headers, body });
      await reply.body.dump();
    }
  };
  await Promise.all(Array.from({ length: connections }, loop));
  await agent.close();
}

serveJobs({ post });
