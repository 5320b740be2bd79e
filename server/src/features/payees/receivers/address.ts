// The address a platform speaks with when it asks for itself.
import type { PlatformRow } from '../../tenancy/platform/index.ts';

/** Who asks when a platform asks for itself. */
export const platformAddress = (platform: PlatformRow): string =>
  `$${platform.proxy_uma_subdomain}@${platform.uma_domain}`;
