// The command `deliveries`: shows webhook deliveries and their results, and repeats deliveries.
import { Command } from 'commander';
import { withExamples } from '../help.ts';
import type { Output } from '../output/output.ts';
import { columnOf } from '../output/table.ts';
import { shortText } from '../output/values.ts';
import type { Output as Reply } from '../sdk.ts';
import { type Session, sessionOf } from '../session.ts';

type Delivery = Reply<'listWebhookDeliveries'>['data'][number];
type Details = Reply<'getWebhookDeliveryById'>;

interface DeliveryFlags {
  readonly failed?: boolean;
  readonly endpoint?: string;
  readonly event?: string;
  readonly number: string;
}

const isFailed = ({ status, lastAttempt }: Delivery) =>
  status === 'FAILED' || (status === 'PENDING' && lastAttempt?.result === 'RETRY');

/** The receiver's reply to the last attempt, or the reason why there was none. */
const resultOf = ({ lastAttempt }: Delivery): string =>
  // `ECONNREFUSED: connect ECONNREFUSED 127.0.0.1:3000` begins with its code.
  String(lastAttempt?.responseStatus ?? lastAttempt?.error ?? lastAttempt?.result ?? '').split(
    ':',
  )[0] ?? '';

async function find({ client }: Session, flags: DeliveryFlags): Promise<Delivery[]> {
  const count = Number(flags.number) || 20;
  const filter = {
    ...(flags.endpoint !== undefined && { endpointId: flags.endpoint }),
    ...(flags.event !== undefined && { eventId: flags.event }),
    limit: 100,
  };
  const deliveries: Delivery[] = [];
  const statuses = flags.failed ? (['PENDING', 'FAILED'] as const) : [undefined];
  for (const status of statuses) {
    const list = client.webhookDeliveries.listWebhookDeliveries({
      ...filter,
      ...(status && { status }),
    });
    for await (const delivery of list) {
      if (!flags.failed || isFailed(delivery)) deliveries.push(delivery);
      if (deliveries.length >= count) break;
    }
  }
  return deliveries.slice(0, count);
}

function table(output: Output, deliveries: readonly Delivery[]): string[] {
  const column = (name: string, text: (each: Delivery) => string) =>
    columnOf(name, deliveries.map(text));
  return output.table([
    column('id', ({ id }) => id),
    column('status', ({ status }) => status),
    column('lastResult', resultOf),
    column('eventType', ({ eventType }) => eventType),
    column('attempts', ({ attemptCount }) => String(attemptCount)),
    column('nextAttemptAt', ({ nextAttemptAt }) => shortText(nextAttemptAt) ?? ''),
    column('eventCreatedAt', ({ eventCreatedAt }) => shortText(eventCreatedAt) ?? ''),
  ]);
}

function attemptLines({ attempts }: Details, output: Output): string[] {
  return attempts.flatMap(({ number, at, responseStatus, error, durationMs, responseBody }) => {
    const result = String(responseStatus ?? error ?? '');
    const line = `  ${number}  ${shortText(at)}  ${result}  ${durationMs} ms`;
    return responseBody ? [line, output.styles.dim(`     ${responseBody}`)] : [line];
  });
}

function getCommand(): Command {
  const command = new Command('get')
    .summary('Show the attempts of a delivery.')
    .description('Shows a delivery with each attempt and the reply of the receiver.')
    .argument('<delivery>', 'ID of a delivery.');
  withExamples(
    command,
    'railhead deliveries get WebhookDelivery:2-019b8d60-2a80-7000-8000-00000000000f',
  );
  return command.action(async (deliveryId: string) => {
    const { output, client } = await sessionOf(command);
    const delivery = await client.webhookDeliveries.getWebhookDeliveryById({ deliveryId });
    const { attempts, ...fields } = delivery;
    await output.result(delivery, () => [
      ...output.details(fields),
      ...(attempts.length > 0 ? ['Attempts:', ...attemptLines(delivery, output)] : []),
    ]);
  });
}

function resendCommand(): Command {
  const command = new Command('resend')
    .summary('Repeat a delivery.')
    .description('Repeats a delivery immediately.')
    .argument('<delivery>', 'ID of a delivery.');
  withExamples(
    command,
    'railhead deliveries resend WebhookDelivery:2-019b8d60-2a80-7000-8000-00000000000f',
  );
  return command.action(async (deliveryId: string) => {
    const { output, client } = await sessionOf(command);
    await output.resource(await client.webhookDeliveries.resendWebhookDelivery({ deliveryId }));
  });
}

export function deliveriesCommand(): Command {
  const command = new Command('deliveries')
    .summary('Show webhook deliveries.')
    .description('Shows the latest webhook deliveries, with the result of their last attempts.')
    .option('--failed', 'Only deliveries that failed, or whose last attempt failed.')
    .option('--endpoint <id>', 'Only deliveries to an endpoint.')
    .option('--event <id>', 'Only deliveries of an event.')
    .option('-n, --number <count>', 'Number of deliveries. Default: 20.', '20')
    .addCommand(getCommand())
    .addCommand(resendCommand());
  withExamples(
    command,
    'railhead deliveries --failed',
    'railhead deliveries get DELIVERY_ID',
    'railhead deliveries resend DELIVERY_ID',
  );
  return command.action(async (flags: DeliveryFlags) => {
    const session = await sessionOf(command);
    const data = await find(session, flags);
    const emptyText = flags.failed ? 'No failed deliveries.' : 'No deliveries.';
    await session.output.result({ data }, () =>
      data.length === 0 ? [emptyText] : table(session.output, data),
    );
  });
}
