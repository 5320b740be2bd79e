// The command `listen`: forwards the webhooks of the platform to a receiver on this machine.
import { Command } from 'commander';
import { withExamples } from '../help.ts';
import { interruptionSignal } from '../interrupt.ts';
import type { Output } from '../output/output.ts';
import { timeOfDay } from '../output/values.ts';
import { type Session, sessionOf } from '../session.ts';
import { eventTypesOf } from '../tools/events.ts';
import { type Endpoint, ensureEndpoint, isNotFound, type Registration } from './endpoint.ts';
import { type Forwarded, forward, receiverOf } from './forward.ts';
import { type Journal, openJournal } from './journal.ts';
import { type Delivery, type Listener, retryUntilDone, run } from './run.ts';
import {
  deleteState,
  filesOf,
  type ListenFiles,
  labelOf,
  loadState,
  lock,
  saveState,
} from './state.ts';

interface ListenFlags {
  readonly forwardTo?: string;
  readonly events?: string;
  readonly name: string;
  readonly keep?: boolean;
  readonly printSecret?: boolean;
}

type Result = Exclude<Forwarded, { kind: 'refused' }>;

function resultText(result: Result, { styles }: Output): string {
  if (result.kind === 'failed') return styles.red('failed');
  const isSuccess = result.status >= 200 && result.status < 300;
  return (isSuccess ? styles.green : styles.red)(String(result.status));
}

function lineOf(delivery: Delivery, result: Result, isRepeated: boolean, output: Output): string {
  const { dim, yellow } = output.styles;
  const { eventId, eventType, createdAt, attempt } = delivery;
  const line = [
    dim(timeOfDay(createdAt)),
    resultText(result, output),
    `${String(result.ms).padStart(5)} ms`,
    eventType,
    dim(eventId),
    ...(attempt > 1 ? [dim('resent')] : []),
    ...(isRepeated ? [yellow('sent again: the previous run stopped while sending it')] : []),
  ].join('  ');
  const isSuccess = result.kind === 'replied' && result.status >= 200 && result.status < 300;
  if (isSuccess) return line;
  const errorText = result.kind === 'failed' ? `${result.error}. ` : '';
  return `${line}\n          ${dim(`${errorText}Send it again: railhead events resend ${eventId}`)}`;
}

/** Without a receiver, events are only shown. */
const SHOWN_RESULT: Forwarded = { kind: 'replied', status: 200, ms: 0 };

/** Returns a function that prints the start and the end of each interruption. */
function interruptionPrinter(
  output: Output,
  receiver: URL | undefined,
): Listener['onInterruption'] {
  let currentError: string | undefined;
  return (error) => {
    if (error === currentError) return;
    if (error === undefined) output.note('Connected again.');
    else if (currentError === undefined) {
      const isReceiver = receiver && /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|UNREACH/.test(error);
      const unreachableName =
        isReceiver && !/cannot be reached/.test(error) ? receiver.href : 'The server';
      output.note(`${unreachableName} cannot be reached. No event is lost. Trying again …`);
    }
    currentError = error;
  };
}

function printIntro(output: Output, endpoint: Endpoint, receiver: URL | undefined): void {
  const { endpointId, secret, isResumed } = endpoint;
  if (output.isJson) {
    output.line(JSON.stringify({ ready: true, endpointId, secret, isResumed }));
    return;
  }
  const { bold, dim } = output.styles;
  const destination = receiver ? ` to ${receiver.href}` : '';
  const readyText = isResumed ? 'Ready. Continuing after the previous run.' : 'Ready.';
  output.line(
    `${readyText} ${receiver ? 'Forwarding' : 'Showing'} events${destination}. Stop with Ctrl+C.`,
  );
  output.line(`Signing secret  ${bold(secret)}  ${dim(endpointId)}`);
}

interface Counts {
  forwarded: number;
}

function listenerOf(
  session: Session,
  journal: Journal,
  endpoint: Endpoint,
  { receiver, signal }: { receiver: URL | undefined; signal: AbortSignal },
): Listener & { counts: Counts } {
  const { output, client } = session;
  const counts = { forwarded: 0 };
  return {
    client,
    counts,
    endpointId: endpoint.endpointId,
    journal,
    signal,
    forward: async (delivery) => (receiver ? forward(receiver, delivery) : SHOWN_RESULT),
    async report(delivery, result, isRepeated) {
      counts.forwarded++;
      const { eventId, eventType, createdAt, attempt, body } = delivery;
      const event = { eventId, eventType, createdAt, attempt, ...result, isRepeated };
      const value = receiver ? event : { ...event, body: JSON.parse(body) as unknown };
      await output.streamed(value, () => lineOf(delivery, result, isRepeated, output));
    },
    onInterruption: interruptionPrinter(output, receiver),
  };
}

/** Removes the endpoint. If the removal fails, the next run uses the endpoint. */
async function removeEndpoint({ client, output }: Session, endpointId: string, files: ListenFiles) {
  try {
    await client.webhookEndpoints.deleteWebhookEndpointById({ endpointId }, { deadline: 5_000 });
    deleteState(files);
    output.note('Endpoint removed.');
  } catch {
    output.note('The endpoint could not be removed. The next `railhead listen` uses it again.');
  }
}

async function start(
  session: Session,
  files: ListenFiles,
  registration: Registration,
  signal: AbortSignal,
) {
  const state = loadState(files);
  const { output, client } = session;
  const connect = () => ensureEndpoint(client, state, registration);
  // A first run reports immediately that the server cannot be reached. A later run waits for it.
  const onInterruption = interruptionPrinter(output, undefined);
  const endpoint = state
    ? await retryUntilDone(connect, { signal, onInterruption })
    : await connect();
  if (!endpoint) return undefined;
  // The journal belongs to the endpoint.
  if (state && state.endpointId !== endpoint.endpointId) deleteState(files);
  const { endpointId, secret } = endpoint;
  saveState(files, { endpointId, secret });
  return endpoint;
}

/**
 * Forwards until the signal aborts, even if the endpoint is removed. Returns the ID of the last
 * endpoint, or undefined if the signal aborts before an endpoint exists.
 */
async function follow(
  session: Session,
  files: ListenFiles,
  registration: Registration,
  { receiver, signal }: { receiver: URL | undefined; signal: AbortSignal },
): Promise<string | undefined> {
  const { output } = session;
  for (;;) {
    const endpoint = await start(session, files, registration, signal);
    if (!endpoint) return undefined;
    printIntro(output, endpoint, receiver);
    const journal = openJournal(files.journal);
    const listener = listenerOf(session, journal, endpoint, { receiver, signal });
    try {
      await run(listener);
      output.note(`\n${listener.counts.forwarded} events.`);
      return endpoint.endpointId;
    } catch (error) {
      if (!isNotFound(error)) throw error;
      output.note('The endpoint was removed, for example by a reset. A new endpoint is created:');
      deleteState(files);
    } finally {
      journal.close();
    }
  }
}

async function listen(session: Session, flags: ListenFlags): Promise<void> {
  const receiver = flags.forwardTo === undefined ? undefined : receiverOf(flags.forwardTo);
  const registration = { label: labelOf(flags.name), types: eventTypesOf(flags.events) };
  const { output, target } = session;
  const files = filesOf(target, flags.name);
  const unlock = lock(files, flags.name);
  try {
    const signal = interruptionSignal();
    if (flags.printSecret) {
      const endpoint = await start(session, files, registration, signal);
      output.line(endpoint?.secret ?? '');
      return;
    }
    const endpointId = await follow(session, files, registration, { receiver, signal });
    if (endpointId !== undefined && !flags.keep) await removeEndpoint(session, endpointId, files);
  } finally {
    unlock();
  }
}

export function listenCommand(): Command {
  const command = new Command('listen')
    .summary('Forward webhooks to this machine.')
    .description(
      'Forwards the webhooks of the platform to a receiver on this machine, signed by the ' +
        'server. The printed secret verifies `webhook-signature`. After an interruption of the server, ' +
        'the network or this program, the next run continues where the previous run stopped. An ' +
        'event is retried while the receiver cannot be reached. Any reply counts as received. Resent ' +
        'events are forwarded too.',
    )
    .option(
      '--forward-to <url>',
      'Receiver, such as localhost:3000/webhooks. Default: only show events.',
    )
    .option(
      '--events <types>',
      'Event types, separated by commas, such as OUTGOING_PAYMENT.*. Default: all.',
    )
    .option(
      '--name <name>',
      'Name of the listener, if several run on one platform. Default: default.',
      'default',
    )
    .option(
      '--keep',
      'Keep the endpoint when the program ends, and its events for at least seven days.',
    )
    .option('--print-secret', 'Print the secret for the receiver and exit. The endpoint is kept.');
  withExamples(
    command,
    'railhead listen --forward-to localhost:3000/webhooks',
    "railhead listen --forward-to 3000/hook --events 'OUTGOING_PAYMENT.*,CARD.STATE_CHANGE'",
    'WEBHOOK_SECRET=$(railhead listen --print-secret)',
  );
  return command.action(async (flags: ListenFlags) => listen(await sessionOf(command), flags));
}
