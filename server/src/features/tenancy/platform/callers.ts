// Which platform asks or is meant, and who acts when the server itself works on a platform's behalf.
import type { Caller } from '../../../kernel/caller.ts';
import { PERMISSIONS } from '../../../kernel/contract/operation.ts';
import type { Effects } from '../../../kernel/effects.ts';
import { Fault } from '../../../kernel/fault.ts';
import { isId, newId } from '../../../kernel/id.ts';
import type { Mode } from '../../../kernel/mode.ts';
import type { Ctx, Reader } from '../../../runtime/operation/context.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import { type PlatformRow, readPlatform } from './store.ts';

/** The calling platform's own row. */
export async function ownPlatform(ctx: Ctx): Promise<PlatformRow> {
  const row = await readPlatform(ctx, ctx.caller.platformId);
  if (!row) throw new Fault('UNAUTHORIZED', 'The API credentials are missing or invalid.');
  return row;
}

/** A platform by its id. Throws PLATFORM_NOT_FOUND. */
export async function platformById({ db }: Runtime, id: string): Promise<PlatformRow> {
  const row = isId(id, 'PlatformConfig') ? await readPlatform(db, id) : undefined;
  if (!row) throw new Fault('PLATFORM_NOT_FOUND', 'Platform not found.');
  return row;
}

/** An id for a platform that is about to be created, and its name in the API's configuration. */
export const newPlatformId = (effects: Effects): string => newId(effects, 'PlatformConfig');

/** The server acting by itself for a platform: a job, an operator command, the first start. */
export const systemCaller = (platformId: string, environment: Mode): Caller => ({
  platformId,
  environment,
  tokenId: null,
  permissions: PERMISSIONS,
});

/** The same, where only the platform's id is at hand. */
export async function callerOf(reader: Reader, id: string): Promise<Caller> {
  const platform = await readPlatform(reader, id);
  if (!platform) throw new Error(`no platform ${id}`);
  return systemCaller(id, platform.environment);
}
