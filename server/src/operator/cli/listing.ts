// Row limit of lists, and details on one line.
import { type CommandArgs, type Flags, usageError } from './flags.ts';

const MAX_ROWS = 1_000;
const DEFAULT_ROWS = 200;

export const LIMIT: Flags = {
  limit: {
    value: 'NUMBER',
    help: `Maximum number of rows, 1 to ${MAX_ROWS} (default: ${DEFAULT_ROWS})`,
  },
};

export function limitIn(args: CommandArgs): number {
  const limit = Number(args.text('limit') ?? DEFAULT_ROWS);
  if (Number.isInteger(limit) && limit >= 1 && limit <= MAX_ROWS) return limit;
  throw usageError(`--limit must be a whole number from 1 to ${MAX_ROWS}`);
}

/** Names and values on one line. Nested values are JSON. Null and undefined are omitted. */
export const inline = (details: Record<string, unknown>): string =>
  Object.entries(details)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => `${name}=${typeof value === 'object' ? JSON.stringify(value) : value}`)
    .join(' ');
