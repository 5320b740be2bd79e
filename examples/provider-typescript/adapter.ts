// An adapter for payouts in euros. The adapter stores each payment and each message before it responds, so
// that its process can be stopped at any time. In your own project, import from 'railhead-sdk/providers'.
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import * as sdk from '../../packages/sdk/src/providers.ts';
import { resultsOf } from './bank.ts';

type Payment = { state: sdk.TransferState; nextStates: sdk.TransferState[] };
type Data = { payments: Record<string, Payment>; outbox: sdk.Message[] };
type Options = { folder: string; port: number; railhead: string; isTest: boolean };

const PAYOUTS = { kinds: ['payout' as const], rails: ['SEPA' as const], currencies: ['EUR'] };

export function startAdapter({ folder, port, railhead, isTest }: Options) {
  const file = `${folder}/payments.json`;
  const read = (name: string) => readFileSync(`${folder}/${name}`, 'utf8');
  const emptyData: Data = { payments: {}, outbox: [] };
  const data: Data = existsSync(file) ? JSON.parse(read('payments.json')) : emptyData;
  const store = () => {
    writeFileSync(`${file}.new`, JSON.stringify(data));
    renameSync(`${file}.new`, file);
  };
  const calls: sdk.ProviderCalls = {
    '/capabilities': () => ({ protocol: '1', transfers: [PAYOUTS] }),
    '/transfers/send'(transfer) {
      const { transferId: id, reference } = transfer;
      const nextStates = resultsOf(transfer, isTest);
      data.payments[id] ??= { state: { state: 'accepted', reference }, nextStates };
      store();
      return data.payments[id].state;
    },
    '/transfers/state': ({ transferId }) => data.payments[transferId]?.state,
    '/transfers/cancel': ({ transferId: id }) => data.payments[id] && { result: 'rejected' },
  };
  const send = sdk.messageSender({ url: railhead, key: read('adapter.pem') });
  async function report(message: sdk.Message) {
    while ((await send(message)) === 'later') await sleep(250);
    data.outbox = data.outbox.filter(({ id }) => id !== message.id);
    store();
  }
  function advance([id, payment]: [string, Payment]) {
    if (data.outbox.some((message) => message.id.startsWith(`${id}/`))) return; // preserves the order
    const state = payment.nextStates.shift();
    if (!state) return;
    payment.state = state;
    const base = { id: `${id}/${state.state}`, occurredAt: new Date().toISOString() };
    const message = { ...base, type: 'transfer.updated' as const, transferId: id, transfer: state };
    data.outbox.push(message);
    store();
    void report(message);
  }
  for (const message of data.outbox) void report(message);
  setInterval(() => Object.entries(data.payments).forEach(advance), 200);
  const keys = readdirSync(folder).filter((name) => /^railhead.*\.pub\.pem$/.test(name));
  const handle = sdk.providerHandler({ keys: keys.map(read), calls });
  return http.createServer(sdk.providerListener(handle)).listen(port, '127.0.0.1');
}
