// Shared by the operator's two queues, manual rail transfers and suspense items: the number of
// listed rows, and the counterparty's account details on one line.
import { type CommandArgs, type Flags, usageError } from './flags.ts';

const MOST = 1_000;
const USUAL = 200;

export const LIMIT: Flags = {
  limit: { value: 'NUMBER', help: `Maximum number of rows (${USUAL})` },
};

export function limitIn(args: CommandArgs): number {
  const limit = Number(args.text('limit') ?? USUAL);
  if (Number.isInteger(limit) && limit >= 1 && limit <= MOST) return limit;
  throw usageError(`--limit must be a number from 1 to ${MOST}`);
}

/** Names and values on one line; nested values as JSON. */
export const inline = (details: Record<string, unknown>): string =>
  Object.entries(details)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => `${name}=${typeof value === 'object' ? JSON.stringify(value) : value}`)
    .join(' ');
