// Stores the state of the adapter in one file. Callers save it before they send data that depends on it.
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  writeSync,
} from 'node:fs';
import type { Message, TransferState } from '../../packages/sdk/src/providers.ts';

export interface Payment {
  readonly transferId: string;
  /** The order that is sent to the bank, which identifies it by `end_to_end_id`. */
  readonly order: { readonly end_to_end_id: string } & Readonly<Record<string, unknown>>;
  /** Time of the last attempt to send the order, in milliseconds since 1970. */
  sentAt: number;
  /** ID that the bank assigned. Absent before its response. */
  paymentId?: string;
  /** The latest state that the bank reported. Absent before the first report. */
  state?: TransferState;
}

interface Data {
  /** By transfer ID. */
  readonly payments: Record<string, Payment>;
  /** IDs of the bank's events that were received. */
  readonly events: string[];
  outbox: Message[];
}

export function openStore(file: string): { data: Data; save(): void } {
  const data: Data = existsSync(file)
    ? JSON.parse(readFileSync(file, 'utf8'))
    : { payments: {}, events: [], outbox: [] };
  return {
    data,
    /** The state is durable when this function returns. */
    save() {
      const handle = openSync(`${file}.new`, 'w', 0o600);
      writeSync(handle, JSON.stringify(data));
      fsyncSync(handle);
      closeSync(handle);
      renameSync(`${file}.new`, file);
    },
  };
}
