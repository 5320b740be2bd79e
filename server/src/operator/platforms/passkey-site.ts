// `--passkey-rp-id` and `--passkey-origins`: the relying party of a platform's passkeys. Values
// that browsers would reject are rejected here, before a customer registers an unusable passkey.

import type { PasskeySite } from '../../features/tenancy/platform/index.ts';
import { originProblem } from '../../kernel/crypto/webauthn.ts';
import type { Mode } from '../../kernel/mode.ts';
import { type CommandArgs, type Flags, usageError } from '../cli/flags.ts';

export const PASSKEY_FLAGS: Flags = {
  'passkey-rp-id': {
    value: 'example.com',
    help: 'Relying party id of its passkeys; those of another site are removed',
  },
  'passkey-origins': {
    value: 'ORIGIN,ORIGIN',
    list: true,
    help: 'Pages and apps that use them; the complete list',
  },
};

const DOMAIN = /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])$/;

/** Whether a platform can use this host; `localhost` only in the sandbox. */
export const isHost = (host: string, environment: Mode): boolean =>
  host === 'localhost' ? environment === 'sandbox' : host.length <= 253 && DOMAIN.test(host);

function originProblemOf(origin: string, rpId: string, environment: Mode): string | undefined {
  const wrong = originProblem(origin, rpId);
  if (wrong || !/^https?:/.test(origin)) return wrong;
  return isHost(new URL(origin).hostname, environment) ? undefined : 'has an invalid host name';
}

function problemOf({ rpId, origins }: PasskeySite, environment: Mode): string | undefined {
  if (!isHost(rpId, environment)) {
    return `--passkey-rp-id must be a domain like example.com, not ${rpId}`;
  }
  for (const [index, origin] of origins.entries()) {
    const wrong = originProblemOf(origin, rpId, environment);
    if (wrong) return `--passkey-origins: ${origin} ${wrong} (${rpId})`;
    if (origins.indexOf(origin) < index) return `--passkey-origins: ${origin} is listed twice`;
  }
  return undefined;
}

/**
 * The site after a call with all, some or none of its flags; without flags `before`. Throws a usage
 * error for a site that browsers or apps would reject.
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
    throw usageError('--passkey-rp-id and --passkey-origins must both be set the first time');
  }
  const site = { rpId, origins };
  const problem = problemOf(site, environment);
  if (problem) throw usageError(problem);
  return site;
}
