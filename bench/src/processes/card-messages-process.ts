// A provider that issues cards and requests authorizations over HTTP with signed messages, for rows
// 7e and 7f. Each request starts at a fixed time, because terminals are independent of each other.
// The latency counts from that time.
import http from 'node:http';
import { requestFor } from '../machine/authorization-load.ts';
import { createProvider, decisionOf } from '../machine/provider-message.ts';
import { serveJobs } from '../machine/worker-channel.ts';
import { createTally, type Run } from '../table/stats.ts';

export interface CardMessages {
  cards: readonly string[];
  perSecond: number;
  warmupMs: number;
  seconds: number;
}

const agent = new http.Agent({ keepAlive: true });
let provider: ReturnType<typeof createProvider> | undefined;
let requestCount = 0;

interface SignedRequest {
  url: string;
  headers: Record<string, string>;
  body: string;
}

/** Sends a request and returns the status and the body. */
const send = ({ url, headers, body }: SignedRequest) =>
  new Promise<{ status: number; text: string }>((resolve, reject) => {
    const request = http.request(url, { agent, method: 'POST', headers }, (reply) => {
      let text = '';
      reply.setEncoding('utf8');
      reply.on('data', (chunk: string) => {
        text += chunk;
      });
      reply.on('end', () => resolve({ status: reply.statusCode ?? 0, text }));
    });
    request.on('error', reject);
    request.end(body);
  });

async function authorize(cardId: string): Promise<string | undefined> {
  if (!provider) throw new Error('the origin is not set. Call `sendTo` first.');
  const { status, text } = await send(
    await provider.signMessage(requestFor(cardId, requestCount++)),
  );
  if (status !== 200) return `${status} ${text}`;
  const decision = decisionOf(JSON.parse(text).authorization);
  return decision.approved ? undefined : decision.reason;
}

async function run({ cards, perSecond, warmupMs, seconds }: CardMessages): Promise<Run> {
  const tally = createTally(warmupMs, seconds);
  const openRequests: Promise<void>[] = [];
  const start = performance.now();
  for (let index = 0; tally.isRunning(); index++) {
    const dueAt = start + (index * 1000) / perSecond;
    const waitMs = dueAt - performance.now();
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    const cardId = cards[index % cards.length] as string;
    openRequests.push(
      authorize(cardId).then(
        (problem) => (problem ? tally.error(problem) : tally.ok(dueAt)),
        (error) => tally.error(String(error)),
      ),
    );
  }
  await Promise.all(openRequests);
  return tally.result();
}

/** Sets the origin of the server and returns the public key of the provider as PEM. */
function sendTo(origin: string): string {
  provider = createProvider(origin);
  return provider.publicKeyPem;
}

serveJobs({ sendTo, run });
