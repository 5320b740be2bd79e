// The verification page as a page behind a link: its address, its brand, and the page that replaces it when
// the link has ended. Its look and behaviour are below `page/`.
import path from 'node:path';
import type { BuildOptions } from 'esbuild';
import { type HostedApp, LINK_ENDED } from '../../../kernel/contract/page.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import { sha256Hex } from '../../../runtime/security/crypto.ts';
import { brandOf } from '../../tenancy/config/index.ts';
import { readPlatform } from '../../tenancy/platform/index.ts';
import { VERIFY_PATH } from './links.ts';
import { kycLinks } from './store.ts';

// The script of the verification page, made from the sources below `page/`. A built server contains it:
// scripts/build.mjs replaces this file by the finished text. From source it is bundled at first use, with
// the same settings.

import settings from './page/build.json' with { type: 'json' };

async function pageAssets(): Promise<{ script: string }> {
  const { build } = await import('esbuild');
  const absWorkingDir = path.join(import.meta.dirname, 'page');
  const { outputFiles = [] } = await build({ ...(settings as BuildOptions), absWorkingDir });
  const text = (ending: string) => outputFiles.find((each) => each.path.endsWith(ending))?.text;
  return { script: text('.js') ?? '' };
}

export const verificationPage = ({ db }: Pick<Runtime, 'db'>): HostedApp => ({
  path: VERIFY_PATH,
  title: 'Verification',
  withoutScript:
    'This page needs JavaScript. Enable it in the settings of the browser, or open the link in another one.',
  ended: { ...LINK_ENDED, status: 410 },
  async brandOf(secret) {
    const [link] = await db.find(kycLinks, { secret_hash: sha256Hex(secret) });
    const platform = link && (await readPlatform(db, link.platform_id));
    return platform && brandOf(platform);
  },
  script: async () => (await pageAssets()).script,
});
