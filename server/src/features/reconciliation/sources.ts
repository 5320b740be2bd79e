// Statement settings of a provider: the time zone of its days, and whether its fees are expected.

import { iso } from '../../kernel/effects.ts';
import { Fault, invalidField } from '../../kernel/fault.ts';
import type { Mode } from '../../kernel/mode.ts';
import { isKeyTaken, operate, type Runtime } from '../../runtime/operation/operate.ts';
import { providerModes } from '../providers/index.ts';
import { INSTALLATION, systemCaller } from '../tenancy/platform/index.ts';
import { isTimeZone } from './days.ts';
import { type SourceRow, statementSources } from './store.ts';

const DEFAULTS = { time_zone: 'UTC', fees_expected: false, requested_day: null } as const;

export interface Source extends Pick<SourceRow, 'time_zone' | 'fees_expected' | 'requested_day'> {
  providerId: string;
  environment: Mode;
}

/** Throws NOT_FOUND for an unknown provider. */
export async function sourceOf({ db }: Pick<Runtime, 'db'>, providerId: string): Promise<Source> {
  const provider = (await providerModes(db)).find((each) => each.providerId === providerId);
  if (!provider) throw new Fault('NOT_FOUND', 'Provider not found.');
  const { time_zone, fees_expected, requested_day } =
    (await db.read(statementSources, providerId)) ?? DEFAULTS;
  return { ...provider, time_zone, fees_expected, requested_day };
}

/**
 * Creates the row of the settings if it does not exist, because concurrent comparisons conflict on this row.
 */
export async function ensureSource(runtime: Runtime, source: Source): Promise<void> {
  const { providerId, environment } = source;
  await operate(runtime, systemCaller('', environment), async (ctx) => {
    if (await ctx.read(statementSources, providerId)) return;
    ctx.insert(statementSources, { id: providerId, ...DEFAULTS, updated_at: ctx.now });
  }).catch((error: unknown) => {
    // Another process has created the row.
    if (!isKeyTaken(error)) throw error;
  });
}

const presentSource = ({ providerId, time_zone, fees_expected, requested_day }: Source) => ({
  providerId,
  timeZone: time_zone,
  feesExpected: fees_expected,
  requestedDay: requested_day,
});

export interface SourceChange {
  providerId: string;
  timeZone?: string | undefined;
  feesExpected?: boolean | undefined;
}

/** Changes the statement settings of a provider. Existing days keep their lines. */
export async function changeSource(runtime: Runtime, change: SourceChange) {
  const { providerId, timeZone, feesExpected } = change;
  if (timeZone !== undefined && !isTimeZone(timeZone)) {
    throw invalidField('timeZone', 'must be an IANA time zone, such as Europe/Berlin');
  }
  const previousSource = await sourceOf(runtime, providerId);
  await operate(runtime, INSTALLATION, async (ctx) => {
    const row = await ctx.read(statementSources, providerId);
    const fields = {
      time_zone: timeZone ?? row?.time_zone ?? previousSource.time_zone,
      fees_expected: feesExpected ?? row?.fees_expected ?? previousSource.fees_expected,
      updated_at: ctx.now,
    };
    if (row) ctx.update(statementSources, row, fields);
    else ctx.insert(statementSources, { id: providerId, requested_day: null, ...fields });
  });
  return presentSource(await sourceOf(runtime, providerId));
}

export const readSource = async (runtime: Pick<Runtime, 'db'>, providerId: string) =>
  presentSource(await sourceOf(runtime, providerId));

export const timeOrNull = (time: number | null): string | null =>
  time === null ? null : iso(time);
