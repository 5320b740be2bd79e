// `cards list|show|close`: lists cards and closes a card permanently. Only the last four digits of a
// card number are shown, as in the API.
import { formatMoney } from '../../catalog/currencies/money-format.ts';
import {
  type CardDetails,
  closeCardByOperator,
  readCardDetails,
  searchCards,
} from '../../features/cards/index.ts';
import { type CommandArgs, type Flags, usageError } from '../cli/flags.ts';
import { LIMIT, limitIn } from '../cli/listing.ts';
import { record, table } from '../cli/table.ts';
import type { Output, System, Verb } from '../cli/verb.ts';
import { platformIn } from '../platforms/platform.ts';

async function list(system: System, args: CommandArgs): Promise<Output> {
  const { data: json } = await searchCards(system.runtime, {
    platformId: await platformIn(system, args),
    customerId: args.text('customer'),
    state: args.text('state'),
    after: args.text('after'),
    limit: limitIn(args),
  });
  const heads = ['CREATED', 'CARD', 'CUSTOMER', 'STATE', 'REASON', 'LAST4'];
  const text = table(
    heads,
    json.map((each) => [
      each.createdAt,
      each.cardId,
      each.customerId,
      each.state,
      each.stateReason ?? '-',
      each.last4 ?? '-',
    ]),
  );
  return { json, text };
}

function spendLimitText({ maxSpendPerTransaction: max, currency }: CardDetails): string {
  if (max === null) return 'none';
  return formatMoney({ currency, amount: BigInt(max) });
}

function outputOf(json: CardDetails): Output {
  const text = record([
    ['Card', json.id],
    ['Platform', json.platformId],
    ['Customer', json.cardholderId],
    ['Platform card ID', json.platformCardId],
    ['State', json.state],
    ['Close reason', json.stateReason ?? '-'],
    ['Note', json.note ?? '-'],
    ['Number', json.last4 === undefined ? '-' : `ends in ${json.last4}`],
    ['Issuer reference', json.issuerRef ?? '-'],
    ['Maximum per payment', spendLimitText(json)],
    ...json.bindings.map(
      (each) =>
        [each.endedAt ? `Funded until ${each.endedAt}` : 'Funding source', each.accountId] as const,
    ),
    ['Created', json.createdAt],
    ['Changed', json.updatedAt],
  ]);
  return { json, text };
}

const MAX_REASON_LENGTH = 255;

async function close({ runtime }: System, args: CommandArgs): Promise<Output> {
  const reason = args.required('reason');
  if (reason.length > MAX_REASON_LENGTH) {
    throw usageError(`--reason must have at most ${MAX_REASON_LENGTH} characters`);
  }
  return outputOf(await closeCardByOperator(runtime, { cardId: args.required('card'), reason }));
}

const CARD: Flags = { card: { value: 'CARD', required: true, help: 'ID of the card' } };

export const cardVerbs: readonly Verb[] = [
  {
    noun: 'cards',
    verb: 'list',
    summary: 'List cards, newest first',
    flags: {
      platform: { value: 'PLATFORM', help: 'Filter by platform (default: all)' },
      customer: { value: 'CUSTOMER', help: 'Filter by cardholder (default: all)' },
      state: {
        value: 'STATE',
        choices: ['PROCESSING', 'ACTIVE', 'FROZEN', 'CLOSED'],
        help: 'Filter by state (default: all)',
      },
      ...LIMIT,
      after: { value: 'CARD', help: 'Continue after this card, the last of the previous list' },
    },
    run: list,
  },
  {
    noun: 'cards',
    verb: 'show',
    summary: 'Show a card and its funding sources',
    flags: CARD,
    positional: 'card',
    run: async ({ runtime }, args) =>
      outputOf(await readCardDetails(runtime, args.required('card'))),
  },
  {
    noun: 'cards',
    verb: 'close',
    summary: 'Close a card permanently. Payments in progress are completed',
    flags: {
      ...CARD,
      reason: {
        value: 'TEXT',
        required: true,
        help: 'Reason, stored with the card. No personal data',
      },
    },
    positional: 'card',
    run: close,
  },
];
