// A session with one adapter: sends transfers, validates replies, and records the states of
// transfers in replies and messages.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Static, TSchema } from '@sinclair/typebox';
import {
  CancelResult,
  type Capabilities,
  TransferState,
} from '../connectors/ports/providers/protocol.ts';
import { fieldErrors } from '../kernel/contract/validate.ts';
import type { SignatureKey } from '../kernel/crypto/http-signatures.ts';
import type { Effects } from '../kernel/effects.ts';
import type { Alteration, Calls, Reply } from './calls.ts';
import { type Attempt, type Inbox, stateOf } from './inbox.ts';
import { type Outcome, type Transfer, type TransferSettings, transferMaker } from './transfers.ts';
import { failure, skipError } from './verdict.ts';

const POLL_MS = 100;

/** A state that the adapter reported. */
interface Observation {
  readonly source: 'reply' | 'message';
  /** `not found` for a response with the status 404. */
  readonly state: string;
  readonly reference?: string | undefined;
}

export interface SessionContext {
  readonly effects: Effects;
  readonly calls: Calls;
  readonly inbox: Inbox;
  /** A key that the adapter must not accept. */
  readonly otherKey: SignatureKey;
  /** The next key of Railhead, which the adapter accepts in addition to the current key. */
  readonly nextKey: SignatureKey;
  readonly key: SignatureKey;
  readonly settings: TransferSettings;
  /** Maximum time for an outcome or a message. */
  readonly waitMs: number;
  /** Time during which further messages are failures. */
  readonly quietMs: number;
  /** Kill and start the process of the adapter. Absent if the session did not start it. */
  readonly kill?: () => Promise<void>;
  readonly start?: () => Promise<void>;
}

/**
 * Returns the body of a reply. Throws a failure for a status other than 200, invalid JSON, or
 * invalid fields.
 */
function parseReply<S extends TSchema>(
  path: string,
  { body, status }: Reply,
  schema: S,
): Static<S> {
  let value: unknown;
  if (status !== 200) throw failure(`${path}: status ${status}`);
  try {
    value = JSON.parse(body);
  } catch {
    throw failure(`${path}: the body is not JSON: ${body.slice(0, 60)}`);
  }
  const errors = fieldErrors(schema, value, 'body');
  if (errors.length === 0) return value as Static<S>;
  const fields = errors.map(({ field, message }) => `${field || 'the body'} ${message}`);
  throw failure(`${path}: ${fields.join('; ')}`);
}

/** Calls that record their durations and the reported states. */
function recordedCalls({ calls }: SessionContext) {
  const observations = new Map<string, Observation[]>();
  const durations: { path: string; durationMs: number }[] = [];
  const observe = (transferId: string, observation: Observation) => {
    const earlierObservations = observations.get(transferId) ?? [];
    observations.set(transferId, [...earlierObservations, observation]);
  };
  async function call(path: string, body: object | string, alteration?: Alteration) {
    const reply = await calls.call(path, body, alteration);
    durations.push({ path, durationMs: reply.durationMs });
    return reply;
  }
  const read = async <S extends TSchema>(path: string, body: object, schema: S) =>
    parseReply(path, await call(path, body), schema);
  function observeState(transferId: string, state: TransferState): TransferState {
    const reference = 'reference' in state ? state.reference : undefined;
    observe(transferId, { source: 'reply', state: state.state, reference });
    return state;
  }
  return {
    ...{ observations, durations, call, read },
    /** Sends a transfer. `extraFields` are absent from the protocol. */
    send: async (transfer: Transfer, extraFields: object = {}): Promise<TransferState> =>
      observeState(
        transfer.transferId,
        await read('/transfers/send', { ...transfer, ...extraFields }, TransferState),
      ),
    /** Requests the state of a transfer. Undefined for the status 404. */
    async state(transferId: string): Promise<TransferState | undefined> {
      const reply = await call('/transfers/state', { transferId });
      if (reply.status !== 404) {
        return observeState(transferId, parseReply('/transfers/state', reply, TransferState));
      }
      observe(transferId, { source: 'reply', state: 'not found' });
      return undefined;
    },
    async cancel(transferId: string): Promise<string> {
      const reply = await call('/transfers/cancel', { transferId });
      if (reply.status === 404) return 'not found';
      return parseReply('/transfers/cancel', reply, CancelResult).result;
    },
  };
}

export type Session = ReturnType<typeof openSession>;

export function openSession(context: SessionContext, capabilities: Capabilities) {
  const { effects, inbox, waitMs } = context;
  const recorder = recordedCalls(context);
  const createTransfer = transferMaker(effects, capabilities.transfers ?? [], context.settings);
  const transfers = new Map<string, Transfer>();

  const attemptsOf = (transferId: string, state?: string): Attempt[] =>
    inbox.attempts.filter(
      (attempt) =>
        attempt.fields.type === 'transfer.updated' &&
        attempt.fields.transferId === transferId &&
        (state === undefined || stateOf(attempt) === state),
    );

  /** Messages with these fields, each with its first attempt only. */
  function messagesOf(fields: Readonly<Record<string, unknown>>): Attempt[] {
    const matchingAttempts = inbox.attempts.filter((attempt) =>
      Object.entries(fields).every(([name, value]) => attempt.fields[name] === value),
    );
    const ids = matchingAttempts.map((attempt) => attempt.fields.id);
    return matchingAttempts.filter((attempt, index) => ids.indexOf(attempt.fields.id) === index);
  }

  /** Calls `find` until it returns a value or the maximum time has passed. */
  async function poll<T>(
    find: () => Promise<T | undefined> | T | undefined,
  ): Promise<T | undefined> {
    const deadline = effects.now() + waitMs;
    for (;;) {
      const match = await find();
      if (match !== undefined || effects.now() > deadline) return match;
      await sleep(POLL_MS);
    }
  }

  /** Creates a transfer that requests this outcome. */
  function transfer(outcome: Outcome): Transfer {
    const createdTransfer = createTransfer(outcome);
    if (!createdTransfer)
      throw skipError(`no transfers are offered, or "${outcome}" is null in --transfers`);
    transfers.set(createdTransfer.transferId, createdTransfer);
    return createdTransfer;
  }

  /** All reported states of a transfer: those of replies, then those of messages. */
  function historyOf(transferId: string): Observation[] {
    const messages = attemptsOf(transferId).map((attempt): Observation => {
      const { reference } = attempt.fields.transfer as { reference?: string };
      return { source: 'message', state: stateOf(attempt), reference };
    });
    return [...(recorder.observations.get(transferId) ?? []), ...messages];
  }

  return {
    ...{
      context,
      capabilities,
      transfers,
      transfer,
      attemptsOf,
      messagesOf,
      poll,
      historyOf,
    },
    ...recorder,
    /** Waits until one of these states is reported in a reply or message. */
    async waitForState(transferId: string, ...states: string[]): Promise<string> {
      const match = await poll(async () => {
        await recorder.state(transferId);
        return historyOf(transferId).find(({ state }) => states.includes(state))?.state;
      });
      if (match !== undefined) return match;
      const lastState = recorder.observations.get(transferId)?.at(-1)?.state ?? 'no state';
      throw failure(`${lastState} after ${waitMs / 1_000} s`);
    },
    /** Waits for `count` attempts to deliver a message with this state. */
    async waitForAttempts(transferId: string, state: string, count = 1): Promise<Attempt[]> {
      const attempts = await poll(() => {
        const receivedAttempts = attemptsOf(transferId, state);
        return receivedAttempts.length >= count ? receivedAttempts : undefined;
      });
      if (attempts) return attempts;
      const attemptCount = attemptsOf(transferId, state).length;
      throw failure(
        `${attemptCount} of ${count} attempts of a message with the state "${state}" in ` +
          `${waitMs / 1_000} s`,
      );
    },
    /** Waits for a message with these fields. */
    async waitForMessage(fields: Readonly<Record<string, unknown>>): Promise<Attempt> {
      const match = await poll(() => messagesOf(fields)[0]);
      if (match) return match;
      throw failure(`no message "${fields.type}" in ${waitMs / 1_000} s`);
    },
    waitQuietPeriod: () => sleep(context.quietMs),
  };
}

/** Returns the different references that were reported for a transfer. */
export const referencesOf = (session: Session, transferId: string): string[] => [
  ...new Set(session.historyOf(transferId).flatMap(({ reference }) => reference ?? [])),
];
