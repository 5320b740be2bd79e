// Script and style of a page as files of this server. Their names change with their content, so that
// browsers may keep them.
import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';

const IMMUTABLE_CACHE = 'public, max-age=31536000, immutable';

interface Asset {
  name: string;
  type: string;
  text: string;
}

export interface AssetFiles {
  script: Asset;
  style: Asset;
}

const nameOf = (text: string, suffix: string) =>
  `page-${createHash('sha256').update(text).digest('hex').slice(0, 16)}.${suffix}`;

const filesOf = ({ script, style }: { script: string; style: string }): AssetFiles => ({
  script: { name: nameOf(script, 'js'), type: 'text/javascript; charset=utf-8', text: script },
  style: { name: nameOf(style, 'css'), type: 'text/css; charset=utf-8', text: style },
});

/** Serves the files below `path`. Returns a function that loads them. */
export function addAssets(
  server: FastifyInstance,
  path: string,
  bundle: () => Promise<{ script: string; style: string }>,
): () => Promise<AssetFiles> {
  let files: Promise<AssetFiles> | undefined;
  const load = () => {
    files ??= bundle().then(filesOf);
    // A failed load is repeated at the next request.
    files.catch(() => {
      files = undefined;
    });
    return files;
  };
  server.get(`${path}/assets/:file`, async (request, reply) => {
    const { file } = request.params as { file: string };
    const asset = Object.values(await load()).find((each) => each.name === file);
    if (!asset) return reply.callNotFound();
    const headers = {
      'content-type': asset.type,
      'cache-control': IMMUTABLE_CACHE,
      'x-content-type-options': 'nosniff',
    };
    return reply.headers(headers).send(asset.text);
  });
  return load;
}
