// The calling platform, and the caller of work that the server does on behalf of a platform.
import type { Caller } from '../../../kernel/caller.ts';
import { PERMISSIONS } from '../../../kernel/contract/operation.ts';
import type { Effects } from '../../../kernel/effects.ts';
import { Fault } from '../../../kernel/fault.ts';
import { isId, newId } from '../../../kernel/id.ts';
import type { Mode } from '../../../kernel/mode.ts';
import type { Ctx, Reader } from '../../../runtime/operation/context.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import { type PlatformRow, readPlatform } from './store.ts';

/** The row of the calling platform. */
export async function readOwnPlatform(ctx: Ctx): Promise<PlatformRow> {
  const row = await readPlatform(ctx, ctx.caller.platformId);
  if (!row) throw new Fault('UNAUTHORIZED', 'The API credentials are missing or invalid.');
  return row;
}

/** A platform by its ID. Throws PLATFORM_NOT_FOUND. */
export async function platformById({ db }: Runtime, id: string): Promise<PlatformRow> {
  const row = isId(id, 'PlatformConfig') ? await readPlatform(db, id) : undefined;
  if (!row) throw new Fault('PLATFORM_NOT_FOUND', 'Platform not found.');
  return row;
}

export const newPlatformId = (effects: Effects): string => newId(effects, 'PlatformConfig');

/** Caller for work of the server on behalf of a platform: a job, an operator command, the first start. */
export const systemCaller = (platformId: string, environment: Mode): Caller => ({
  platformId,
  environment,
  tokenId: null,
  permissions: PERMISSIONS,
});

/** Caller of work that belongs to the installation, such as approvals. */
export const INSTALLATION = systemCaller('', 'production');

/** System caller for a platform, by its ID. */
export async function callerOf(reader: Reader, id: string): Promise<Caller> {
  const platform = await readPlatform(reader, id);
  if (!platform) throw new Error(`platform ${id} not found`);
  return systemCaller(id, platform.environment);
}
