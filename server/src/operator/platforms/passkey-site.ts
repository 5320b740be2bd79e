// `--passkey-rp-id` and `--passkey-origins`: the relying party of a platform's passkeys.

import { passkeySiteProblem } from '../../features/tenancy/administration/index.ts';
import type { PasskeySite } from '../../features/tenancy/platform/index.ts';
import type { Mode } from '../../kernel/mode.ts';
import { type CommandArgs, type Flags, usageError } from '../cli/flags.ts';

export const PASSKEY_FLAGS: Flags = {
  'passkey-rp-id': {
    value: 'example.com',
    help: 'Relying party ID of the passkeys. Passkeys of another site become unusable',
  },
  'passkey-origins': {
    value: 'ORIGIN,ORIGIN',
    list: true,
    help: 'Pages and apps that use the passkeys. The complete list',
  },
};

/**
 * Applies the flags to the current site. Each flag is optional. Throws a usage error for a site
 * that browsers or apps would reject.
 */
export function passkeySiteIn(
  args: CommandArgs,
  environment: Mode,
  currentSite: PasskeySite | null,
): PasskeySite | null {
  const rpId = args.text('passkey-rp-id') ?? currentSite?.rpId;
  const origins = args.list('passkey-origins') ?? currentSite?.origins;
  if (rpId === undefined && origins === undefined) return null;
  if (rpId === undefined || !origins?.length) {
    throw usageError('--passkey-rp-id and --passkey-origins must both be set the first time');
  }
  const site = { rpId, origins };
  const problem = passkeySiteProblem(site, environment);
  if (problem) {
    const flag = problem.field === 'rpId' ? '--passkey-rp-id' : '--passkey-origins:';
    throw usageError(`${flag} ${problem.message}`);
  }
  return site;
}
