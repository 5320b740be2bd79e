// The trial of one adapter: sends transfers, validates replies, and records every state that the
// adapter reports, in replies and in messages.

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
import { problem, skipped } from './verdict.ts';

const POLL_MS = 100;

/** A state as the adapter reported it. */
interface Observation {
  readonly source: 'reply' | 'message';
  /** `not found` for the status 404. */
  readonly state: string;
  readonly reference?: string | undefined;
}

export interface TrialParts {
  readonly effects: Effects;
  readonly calls: Calls;
  readonly inbox: Inbox;
  /** A key that the adapter does not know. */
  readonly otherKey: SignatureKey;
  /** The next key of Railhead, which the adapter accepts beside the current one. */
  readonly nextKey: SignatureKey;
  readonly key: SignatureKey;
  readonly settings: TransferSettings;
  /** Maximum time for an outcome or a message. */
  readonly waitMs: number;
  /** Time in which nothing more is expected. */
  readonly quietMs: number;
  /** Ends the adapter without notice, and starts it again. */
  readonly kill?: () => Promise<void>;
  readonly start?: () => Promise<void>;
}

/** A reply with the body of its schema. Throws a problem that names every invalid field. */
function parsed<S extends TSchema>(path: string, { body, status }: Reply, schema: S): Static<S> {
  let value: unknown;
  if (status !== 200) throw problem(`${path}: status ${status}`);
  try {
    value = JSON.parse(body);
  } catch {
    throw problem(`${path}: the body is not JSON: ${body.slice(0, 60)}`);
  }
  const errors = fieldErrors(schema, value, 'body');
  if (errors.length === 0) return value as Static<S>;
  const fields = errors.map(({ field, message }) => `${field || 'the body'} ${message}`);
  throw problem(`${path}: ${fields.join('; ')}`);
}

/** Calls of a trial, with the duration of each and the states that they return. */
function recordedCalls({ calls }: TrialParts) {
  const observations = new Map<string, Observation[]>();
  const durations: { path: string; durationMs: number }[] = [];
  const observe = (transferId: string, observation: Observation) => {
    const before = observations.get(transferId) ?? [];
    observations.set(transferId, [...before, observation]);
  };
  async function call(path: string, body: object | string, alteration?: Alteration) {
    const reply = await calls.call(path, body, alteration);
    durations.push({ path, durationMs: reply.durationMs });
    return reply;
  }
  const read = async <S extends TSchema>(path: string, body: object, schema: S) =>
    parsed(path, await call(path, body), schema);
  function observeState(transferId: string, state: TransferState): TransferState {
    const reference = 'reference' in state ? state.reference : undefined;
    observe(transferId, { source: 'reply', state: state.state, reference });
    return state;
  }
  return {
    ...{ observations, durations, call, read },
    /** Sends a transfer, with further fields. */
    send: async (transfer: Transfer, more: object = {}): Promise<TransferState> =>
      observeState(
        transfer.transferId,
        await read('/transfers/send', { ...transfer, ...more }, TransferState),
      ),
    /** The state of a transfer; undefined for 404. */
    async state(transferId: string): Promise<TransferState | undefined> {
      const reply = await call('/transfers/state', { transferId });
      if (reply.status !== 404) {
        return observeState(transferId, parsed('/transfers/state', reply, TransferState));
      }
      observe(transferId, { source: 'reply', state: 'not found' });
      return undefined;
    },
    async cancel(transferId: string): Promise<string> {
      const reply = await call('/transfers/cancel', { transferId });
      if (reply.status === 404) return 'not found';
      return parsed('/transfers/cancel', reply, CancelResult).result;
    },
  };
}

export type Trial = ReturnType<typeof openTrial>;

export function openTrial(parts: TrialParts, capabilities: Capabilities) {
  const { effects, inbox, waitMs } = parts;
  const recorded = recordedCalls(parts);
  const make = transferMaker(effects, capabilities.transfers ?? [], parts.settings);
  const transfers = new Map<string, Transfer>();

  const attemptsOf = (transferId: string, state?: string): Attempt[] =>
    inbox.attempts.filter(
      (each) =>
        each.fields.type === 'transfer.updated' &&
        each.fields.transferId === transferId &&
        (state === undefined || stateOf(each) === state),
    );

  /** Messages with these fields, each with its first attempt only. */
  function messagesOf(fields: Readonly<Record<string, unknown>>): Attempt[] {
    const matching = inbox.attempts.filter((each) =>
      Object.entries(fields).every(([name, value]) => each.fields[name] === value),
    );
    const ids = matching.map((each) => each.fields.id);
    return matching.filter((each, index) => ids.indexOf(each.fields.id) === index);
  }

  /** Waits until `find` returns a value. */
  async function until<T>(
    find: () => Promise<T | undefined> | T | undefined,
  ): Promise<T | undefined> {
    const end = effects.now() + waitMs;
    for (;;) {
      const found = await find();
      if (found !== undefined || effects.now() > end) return found;
      await sleep(POLL_MS);
    }
  }

  /** A transfer that will have this outcome. */
  function transfer(outcome: Outcome): Transfer {
    const made = make(outcome);
    if (!made) throw skipped(`--transfers states that no transfer can be ${outcome}`);
    transfers.set(made.transferId, made);
    return made;
  }

  /** Everything that was reported about a transfer: replies, then messages. */
  function historyOf(transferId: string): Observation[] {
    const messages = attemptsOf(transferId).map((each): Observation => {
      const { reference } = each.fields.transfer as { reference?: string };
      return { source: 'message', state: stateOf(each), reference };
    });
    return [...(recorded.observations.get(transferId) ?? []), ...messages];
  }

  return {
    ...{ parts, capabilities, transfers, transfer, attemptsOf, messagesOf, until, historyOf },
    ...recorded,
    /** Waits for one of these states, in a reply or in a message. */
    async reaches(transferId: string, ...states: string[]): Promise<string> {
      const found = await until(async () => {
        await recorded.state(transferId);
        return historyOf(transferId).find(({ state }) => states.includes(state))?.state;
      });
      if (found !== undefined) return found;
      const last = recorded.observations.get(transferId)?.at(-1)?.state ?? 'nothing';
      throw problem(`${last} after ${waitMs / 1_000} s`);
    },
    /** Waits for attempts to deliver a message with this state. */
    async receives(transferId: string, state: string, count = 1): Promise<Attempt[]> {
      const enough = () => {
        const attempts = attemptsOf(transferId, state);
        return attempts.length >= count ? attempts : undefined;
      };
      const attempts = await until(enough);
      if (attempts) return attempts;
      const seen = attemptsOf(transferId, state).length;
      throw problem(`${seen} of ${count} attempts of "${state}" in ${waitMs / 1_000} s`);
    },
    /** Waits for a message with these fields. */
    async receivesMessage(fields: Readonly<Record<string, unknown>>): Promise<Attempt> {
      const found = await until(() => messagesOf(fields)[0]);
      if (found) return found;
      throw problem(`no message "${fields.type}" in ${waitMs / 1_000} s`);
    },
    quiet: () => sleep(parts.quietMs),
  };
}

/** The references that were reported for a transfer. */
export const referencesOf = (trial: Trial, transferId: string): string[] => [
  ...new Set(trial.historyOf(transferId).flatMap(({ reference }) => reference ?? [])),
];
