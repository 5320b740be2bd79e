// How a program becomes an agent: a code that its platform hands over, good for a day and for one use, is
// changed for an access token. Codes and tokens are shown once and kept as hashes.
import { Fault, invalidField } from '../../../kernel/fault.ts';
import { iso } from '../../../kernel/world.ts';
import { forgetting } from '../../../runtime/db/forget.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { takeTry } from '../../../runtime/operation/tries.ts';
import type { Vault } from '../../../runtime/security/vault.ts';
import { readCustomer } from '../../customers/records/index.ts';
import { drawCode, LETTERS_AND_DIGITS } from '../../notifications/codes/index.ts';
import { note } from '../audit.ts';
import { codeStates } from '../states.ts';
import { type AgentRow, agents, type CodeRow, deviceCodes } from '../store.ts';
import { drawToken, tokenHash } from './authenticator.ts';

const LIVES_MS = 24 * 3_600_000;
/** With 31 letters and digits, 59 bits that nobody guesses in a day at ten tries a minute. */
const [GROUPS, GROUP_LENGTH] = [3, 4];
/** Of one address: codes are guessed by no program that has one. */
const REDEMPTIONS = [{ most: 10, withinMs: 60_000 }];

const written = (code: string) => code.trim().toUpperCase();
const digestOf = (vault: Vault, code: string) => vault.digest('agent device code', written(code));
const noCode = () => new Fault('NOT_FOUND', 'No such device code.');

/** Stages a code for an agent that has none which is good. `word` is the service word. */
export function issueDeviceCode(ctx: Ctx, agent: AgentRow, word: string) {
  const groups = Array.from({ length: GROUPS }, () =>
    drawCode(ctx.world, { length: GROUP_LENGTH, alphabet: LETTERS_AND_DIGITS }),
  );
  const code = [word.toUpperCase(), 'AGENT', ...groups].join('-');
  const row = ctx.insert(deviceCodes, {
    id: digestOf(ctx.vault, code),
    platform_id: agent.platform_id,
    agent_id: agent.id,
    status: 'PENDING',
    expires_at: ctx.now + LIVES_MS,
    created_at: ctx.now,
  });
  note(ctx, agent, 'CODE_ISSUED');
  return { code, agentId: agent.id, expiresAt: iso(row.expires_at), redeemed: false };
}

/** Stages that codes of the agent which were not redeemed are of no use any more. */
export async function replaceDeviceCodes(ctx: Ctx, agent: AgentRow): Promise<void> {
  const status = 'PENDING';
  for (const row of await ctx.db.find(deviceCodes, { agent_id: agent.id, status })) {
    ctx.update(deviceCodes, row, { status: codeStates.next(row.status, 'replace') });
  }
}

/** A code of an agent that is still there, with it. */
async function found(
  ctx: Ctx,
  code: string,
): Promise<{ row: CodeRow; agent: AgentRow } | undefined> {
  const row = await ctx.read(deviceCodes, digestOf(ctx.vault, code));
  const agent = row && (await ctx.read(agents, row.agent_id));
  return agent && agent.deleted_at === null ? { row, agent } : undefined;
}

/** Whether a code of the calling platform was redeemed; NOT_FOUND for every other. */
export async function codeStatus(ctx: Ctx, code: string) {
  const known = await found(ctx, code);
  if (known?.row.platform_id !== ctx.caller.platformId) throw noCode();
  return { code: written(code), redeemed: known.row.status === 'REDEEMED' };
}

function unfit({ status, expires_at }: CodeRow, now: number): Fault | undefined {
  const no = (message: string) => invalidField('code', message);
  if (status === 'REDEEMED') return no('was redeemed before');
  if (status === 'REPLACED') return no('was replaced by another code');
  return now >= expires_at ? no('has expired: ask for another') : undefined;
}

/**
 * Stages that a code is changed for an access token, and answers the token, or why it is not. The try counts
 * either way, so a refusal has to be committed. Throws RATE_LIMITED for an address that tries too often.
 */
export async function redeemDeviceCode(
  ctx: Ctx,
  code: string,
): Promise<{ refused: Fault } | { agent: AgentRow; accessToken: string }> {
  // An address says where somebody is: only its keyed hash is written down.
  const address = ctx.vault.digest('address', ctx.caller.address ?? '');
  await takeTry(ctx, `agent redeem ${address}`, REDEMPTIONS);
  const known = await found(ctx, code);
  const customer = known && (await readCustomer(ctx, known.agent.customer_id));
  if (!known || !customer || customer.deleted_at !== null) return { refused: noCode() };
  const refused = unfit(known.row, ctx.now);
  if (refused) return { refused };
  const accessToken = drawToken(ctx.world);
  ctx.update(deviceCodes, known.row, { status: codeStates.next(known.row.status, 'redeem') });
  const agent = ctx.update(agents, known.agent, {
    token_hash: tokenHash(accessToken),
    updated_at: ctx.now,
  });
  note(ctx, agent, 'CONNECTED', { actor: agent.id });
  return { agent, accessToken };
}

const MONTH_MS = 30 * 24 * 3_600_000;

/**
 * Deletes codes that expired long ago. For a month their platform may still ask whether one was redeemed.
 */
export const deviceCodeSweep = () =>
  forgetting('agents.forget', [
    { table: 'agent_device_codes', time: 'expires_at', keepMs: MONTH_MS },
  ]);
