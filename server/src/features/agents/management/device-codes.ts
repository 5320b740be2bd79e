// A device code is a single-use code, valid for 24 hours, that is exchanged for the access token of
// an agent. Codes and tokens are returned once and stored as hashes.

import { iso } from '../../../kernel/effects.ts';
import { Fault, invalidField } from '../../../kernel/fault.ts';
import { retentionSweep } from '../../../runtime/db/retention.ts';
import { countAttempt } from '../../../runtime/operation/attempt-limiter.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import type { Vault } from '../../../runtime/security/vault.ts';
import { readCustomer } from '../../customers/records/index.ts';
import { generateCode, LETTERS_AND_DIGITS } from '../../notifications/codes/index.ts';
import { recordAudit } from '../audit.ts';
import { codeStates } from '../states.ts';
import { type AgentRow, agents, type CodeRow, deviceCodes } from '../store.ts';
import { generateToken, tokenHash } from './authenticator.ts';

const CODE_LIFETIME_MS = 24 * 3_600_000;
/** Twelve characters of an alphabet of 31 have 59 bits. */
const [GROUPS, GROUP_LENGTH] = [3, 4];
/** Per client address. For IPv6 the address is a /64 network. */
const REDEMPTION_LIMITS = [{ max: 10, withinMs: 60_000 }];

const normalizeCode = (code: string) => code.trim().toUpperCase();
const digestOf = (vault: Vault, code: string) =>
  vault.digest('agent device code', normalizeCode(code));
const codeNotFound = () => new Fault('NOT_FOUND', 'Device code not found.');

/** Stages a device code. `prefix` is the service name prefix. */
export function issueDeviceCode(ctx: Ctx, agent: AgentRow, prefix: string) {
  const groups = Array.from({ length: GROUPS }, () =>
    generateCode(ctx.effects, { length: GROUP_LENGTH, alphabet: LETTERS_AND_DIGITS }),
  );
  const code = [prefix.toUpperCase(), 'AGENT', ...groups].join('-');
  const row = ctx.insert(deviceCodes, {
    id: digestOf(ctx.vault, code),
    platform_id: agent.platform_id,
    agent_id: agent.id,
    status: 'PENDING',
    expires_at: ctx.now + CODE_LIFETIME_MS,
    created_at: ctx.now,
  });
  recordAudit(ctx, agent, 'CODE_ISSUED');
  return { code, agentId: agent.id, expiresAt: iso(row.expires_at), redeemed: false };
}

/** Sets the pending device codes of an agent to REPLACED. */
export async function replaceDeviceCodes(ctx: Ctx, agent: AgentRow): Promise<void> {
  const status = 'PENDING';
  for (const row of await ctx.db.find(deviceCodes, { agent_id: agent.id, status })) {
    ctx.update(deviceCodes, row, { status: codeStates.next(row.status, 'replace') });
  }
}

/** A code with its agent, or undefined if the code is unknown or the agent was deleted. */
async function findCode(
  ctx: Ctx,
  code: string,
): Promise<{ row: CodeRow; agent: AgentRow } | undefined> {
  const row = await ctx.read(deviceCodes, digestOf(ctx.vault, code));
  const agent = row && (await ctx.read(agents, row.agent_id));
  return agent && agent.deleted_at === null ? { row, agent } : undefined;
}

/** Status of a code of the calling platform. Throws NOT_FOUND. */
export async function readCodeStatus(ctx: Ctx, code: string) {
  const knownCode = await findCode(ctx, code);
  if (knownCode?.row.platform_id !== ctx.caller.platformId) throw codeNotFound();
  return { code: normalizeCode(code), redeemed: knownCode.row.status === 'REDEEMED' };
}

function codeRejection({ status, expires_at }: CodeRow, now: number): Fault | undefined {
  const invalidCode = (message: string) => invalidField('code', message);
  if (status === 'REDEEMED') {
    return invalidCode('was already redeemed. Request a new code from the platform');
  }
  if (status === 'REPLACED')
    return invalidCode('was replaced by another code. Use the latest code');
  return now >= expires_at
    ? invalidCode('has expired. Request a new code from the platform')
    : undefined;
}

/**
 * Exchanges a code for an access token. Every attempt is counted, so a rejection must be committed.
 * Throws RATE_LIMITED after ten attempts from one address in a minute.
 */
export async function redeemDeviceCode(
  ctx: Ctx,
  code: string,
): Promise<{ rejected: Fault } | { agent: AgentRow; accessToken: string }> {
  // An address is personal data, so only its keyed hash is stored.
  const address = ctx.vault.digest('address', ctx.caller.address ?? '');
  await countAttempt(ctx, `agent redeem ${address}`, REDEMPTION_LIMITS);
  const knownCode = await findCode(ctx, code);
  const customer = knownCode && (await readCustomer(ctx, knownCode.agent.customer_id));
  if (!knownCode || !customer || customer.deleted_at !== null) return { rejected: codeNotFound() };
  const rejectedFault = codeRejection(knownCode.row, ctx.now);
  if (rejectedFault) return { rejected: rejectedFault };
  const accessToken = generateToken(ctx.effects);
  ctx.update(deviceCodes, knownCode.row, {
    status: codeStates.next(knownCode.row.status, 'redeem'),
  });
  const agent = ctx.update(agents, knownCode.agent, {
    token_hash: tokenHash(accessToken),
    updated_at: ctx.now,
  });
  recordAudit(ctx, agent, 'CONNECTED', { actor: agent.id });
  return { agent, accessToken };
}

const RETENTION_MS = 30 * 24 * 3_600_000;

/**
 * Deletes codes 30 days after expiry. Until then `getAgentDeviceCodeStatus` finds the codes of
 * existing agents.
 */
export const deviceCodeSweep = () =>
  retentionSweep('agents.purge', [
    { table: 'agent_device_codes', time: 'expires_at', keepMs: RETENTION_MS },
  ]);
