// Hosted page of the verification: path, brand, and the page for links that are no longer valid.
// The browser code is in `page/`.

import { type HostedApp, LINK_EXPIRED } from '../../../kernel/contract/page.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import { sha256Hex } from '../../../runtime/security/crypto.ts';
import { brandOf } from '../../tenancy/config/index.ts';
import { readPlatform } from '../../tenancy/platform/index.ts';
import { pageAssets } from './assets.ts';
import { VERIFY_PATH } from './links.ts';
import { kycLinks } from './store.ts';

export const verificationPage = ({ db }: Pick<Runtime, 'db'>): HostedApp => ({
  path: VERIFY_PATH,
  title: 'Verification',
  withoutScript:
    'This page needs JavaScript. Enable it in the settings of the browser, or open the link in ' +
    'another browser.',
  invalidLinkPage: { ...LINK_EXPIRED, status: 410 },
  async brandOf(secret) {
    const [link] = await db.find(kycLinks, { secret_hash: sha256Hex(secret) });
    const platform = link && (await readPlatform(db, link.platform_id));
    return platform && brandOf(platform);
  },
  script: async () => (await pageAssets()).script,
});
