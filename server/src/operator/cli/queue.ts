// What the operator's two queues have in common, the movements that wait for word and the money that waits
// for a decision: how many rows are listed, and how the other side's coordinates are shown on one line.
import { type CommandArgs, type Flags, usageError } from './flags.ts';

const MOST = 1_000;
const USUAL = 200;

export const LIMIT: Flags = { limit: { value: 'NUMBER', help: `Most to list (${USUAL})` } };

export function limitIn(args: CommandArgs): number {
  const limit = Number(args.text('limit') ?? USUAL);
  if (Number.isInteger(limit) && limit >= 1 && limit <= MOST) return limit;
  throw usageError(`--limit must be a number from 1 to ${MOST}`);
}

/** Names and values on one line; what lies deeper as JSON. */
export const inline = (details: Record<string, unknown>): string =>
  Object.entries(details)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => `${name}=${typeof value === 'object' ? JSON.stringify(value) : value}`)
    .join(' ');
