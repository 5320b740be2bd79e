// `--passkey-rp-id` and `--passkey-origins`: where a platform's app keeps the passkeys of its customers. What
// a browser would refuse later is refused here, before anybody has a passkey that is of no use.

import type { PasskeySite } from '../../features/tenancy/platform/index.ts';
import { originProblem } from '../../kernel/crypto/webauthn.ts';
import type { Mode } from '../../kernel/mode.ts';
import { type CommandArgs, type Flags, usageError } from '../cli/flags.ts';

export const PASSKEY_FLAGS: Flags = {
  'passkey-rp-id': {
    value: 'example.com',
    help: 'Site of its passkeys; those of another site end',
  },
  'passkey-origins': {
    value: 'ORIGIN,ORIGIN',
    list: true,
    help: 'Pages and apps that use them; the whole list',
  },
};

const DOMAIN = /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])$/;

/** Whether a host can be one of a platform's; this machine is only where nothing is real. */
export const isHost = (host: string, environment: Mode): boolean =>
  host === 'localhost' ? environment === 'sandbox' : host.length <= 253 && DOMAIN.test(host);

function wrongWith(origin: string, rpId: string, environment: Mode): string | undefined {
  const wrong = originProblem(origin, rpId);
  if (wrong || !/^https?:/.test(origin)) return wrong;
  return isHost(new URL(origin).hostname, environment) ? undefined : 'has a host that is none';
}

function problemOf({ rpId, origins }: PasskeySite, environment: Mode): string | undefined {
  if (!isHost(rpId, environment)) {
    return `--passkey-rp-id takes a domain like example.com, not ${rpId}`;
  }
  for (const [at, origin] of origins.entries()) {
    const wrong = wrongWith(origin, rpId, environment);
    if (wrong) return `--passkey-origins: ${origin} ${wrong} (${rpId})`;
    if (origins.indexOf(origin) < at) return `--passkey-origins: ${origin} is listed twice`;
  }
  return undefined;
}

/**
 * The site after a call that named all of it, a part of it, or nothing: `before` then. Throws a usage error
 * for one that browsers or apps could not use.
 */
export function passkeySiteIn(
  args: CommandArgs,
  environment: Mode,
  before: PasskeySite | null,
): PasskeySite | null {
  const rpId = args.text('passkey-rp-id') ?? before?.rpId;
  const origins = args.list('passkey-origins') ?? before?.origins;
  if (rpId === undefined && origins === undefined) return null;
  if (rpId === undefined || !origins?.length) {
    throw usageError('--passkey-rp-id and --passkey-origins are given together at first');
  }
  const site = { rpId, origins };
  const problem = problemOf(site, environment);
  if (problem) throw usageError(problem);
  return site;
}
