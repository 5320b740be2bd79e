// Forwarding of webhooks: signatures, filters, repetitions, failures and interruptions.
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verify } from '../../sdk/src/webhooks.ts';
import { collect, startTestServer, waitUntil } from './kit/cli.ts';
import { type Receiver, startReceiver } from './kit/receiver.ts';

const server = startTestServer('listen');
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver.close());

/** Creates a customer, which emits one event, and returns its ID. */
const createCustomer = async () =>
  (await server.client.customers.createCustomer({ customerType: 'INDIVIDUAL', fullName: 'Ada' }))
    .id;

const startedProcesses = new Set<ChildProcess>();
afterAll(() => {
  for (const child of startedProcesses) child.kill('SIGKILL');
});

async function listen(...args: string[]) {
  const child = server.cli.start(['listen', ...args]);
  startedProcesses.add(child);
  const output = collect(child);
  await waitUntil(
    'the ready message or the exit',
    () => output.out.includes('Ready') || child.exitCode !== null,
  );
  return { child, output, secret: /whsec_\S+/.exec(output.out)?.[0] ?? '' };
}

async function stop(child: ChildProcess, signal: NodeJS.Signals = 'SIGINT') {
  child.kill(signal);
  if (child.exitCode === null && child.signalCode === null) await once(child, 'close');
  return child.exitCode;
}

const listEndpoints = async () =>
  (await server.client.webhookEndpoints.listWebhookEndpoints()).data;
const arrivalsOf = (id: string) => receiver.arrivals.filter(({ body }) => body.includes(id));

describe('listen', () => {
  it('forwards signed events of the requested types, and removes its endpoint', async () => {
    const forwardArgs = ['--forward-to', `${receiver.port}/hook`];
    const { child, output, secret } = await listen(...forwardArgs, '--events', 'customer.kyc_*');
    const id = await createCustomer();
    await waitUntil('the event', () => arrivalsOf(id).length === 1);
    const [{ body, headers } = { body: '', headers: {} }] = arrivalsOf(id);
    const event = await verify({ body, headers: headers as Record<string, string>, keys: secret });
    expect(event.type).toBe('CUSTOMER.KYC_APPROVED');
    await waitUntil('the output line', () =>
      /200 +\d+ ms {2}CUSTOMER.KYC_APPROVED/.test(output.out),
    );
    expect(await listEndpoints()).toMatchObject([
      { delivery: 'PULL', eventTypes: expect.any(Array) },
    ]);
    expect(await stop(child)).toBe(0);
    expect(output.err).toContain('Endpoint removed.');
    expect(await listEndpoints()).toEqual([]);
  });

  it('receives resent events, and reports failures', async () => {
    const { child, output } = await listen('--forward-to', receiver.url);
    receiver.status = 500;
    const id = await createCustomer();
    await waitUntil('the report of the failure', () =>
      output.out.includes('railhead events resend'),
    );
    receiver.status = 200;
    const [firstArrival] = arrivalsOf(id);
    const { out } = await server.cli.run(['events', 'resend', firstArrival?.id ?? '']);
    expect(out).toBe('Sent again to 1 endpoint.\n');
    await waitUntil('the repetition', () => arrivalsOf(id).length === 2);
    expect(arrivalsOf(id)[1]?.id).toBe(firstArrival?.id);
    await waitUntil('the word resent', () => /\n[^\n]* 200 [^\n]* {2}resent/.test(output.out));
    await stop(child);
  });

  it('retries while the receiver is down or the server is killed', async () => {
    const { port } = receiver;
    const { child, output } = await listen('--forward-to', receiver.url);
    await receiver.close();
    const id = await createCustomer();
    await waitUntil('the report of the interruption', () =>
      output.err.includes('cannot be reached'),
    );
    receiver = await startReceiver(port);
    await waitUntil('the event', () => arrivalsOf(id).length === 1);
    const serverPort = new URL(server.running.origin).port;
    await server.dataFolder.kill(server.running.child, 'both');
    server.running = await server.dataFolder.start(['--port', serverPort]);
    const laterId = await createCustomer();
    await waitUntil('the event after the restart', () => arrivalsOf(laterId).length === 1);
    expect(arrivalsOf(id)).toHaveLength(1);
    await stop(child);
  }, 90_000);

  it('resumes its only endpoint after a kill, even without its state files', async () => {
    const firstListener = await listen('--forward-to', receiver.url);
    const secondResult = await server.cli.run(['listen', '--forward-to', receiver.url]);
    expect([secondResult.code, secondResult.err]).toEqual([
      1,
      expect.stringContaining('another --name'),
    ]);
    await stop(firstListener.child, 'SIGKILL');
    const missedCustomerId = await createCustomer();
    const otherListener = await listen('--forward-to', receiver.url);
    expect(otherListener.secret).toBe(firstListener.secret);
    await waitUntil('the missed event', () => arrivalsOf(missedCustomerId).length === 1);
    await stop(otherListener.child, 'SIGKILL');
    const queuedCustomerId = await createCustomer();
    const env = { XDG_STATE_HOME: `${server.cli.home}/elsewhere` };
    const child = server.cli.start(['listen', '--forward-to', receiver.url], env);
    startedProcesses.add(child);
    await waitUntil('the queued event', () => arrivalsOf(queuedCustomerId).length === 1);
    expect(await listEndpoints()).toHaveLength(1);
    await stop(child);
  });

  it('prints the secret of the receiver, which the next run uses', async () => {
    const { out } = await server.cli.run(['listen', '--print-secret']);
    expect(out).toMatch(/^whsec_\S+\n$/);
    const { child, secret } = await listen('--forward-to', receiver.url);
    expect(`${secret}\n`).toBe(out);
    await stop(child);
  });
});
