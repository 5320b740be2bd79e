// Metrics of several processes as one text. The label `process` distinguishes the samples, so that
// values are not summed. A counter therefore decreases only when its process is restarted. Gauges
// that every process reports alike are not multiplied.

/** Timeout of responses. A process that does not respond is omitted. */
const RESPONSE_MS = 1_000;

/** Joins the samples of each metric below one header. */
export function mergeMetrics(texts: readonly string[]): string {
  const families = new Map<string, string[]>();
  for (const block of texts.flatMap((text) => text.trim().split('\n\n'))) {
    const lines = block.split('\n');
    const header = lines.filter((line) => line.startsWith('#')).join('\n');
    if (header === '') continue;
    const samples = families.get(header) ?? [];
    samples.push(...lines.filter((line) => line !== '' && !line.startsWith('#')));
    families.set(header, samples);
  }
  const mergedBlocks = [...families].map(([header, samples]) => [header, ...samples].join('\n'));
  return `${mergedBlocks.join('\n\n')}\n`;
}

/** A process that can be requested to report its metrics. */
interface Peer {
  number: number;
  request(id: number): void;
}

export function createCollection(listPeers: () => readonly Peer[]) {
  const pendingRequests = new Map<number, (number: number, text: string) => void>();
  let lastId = 0;

  return {
    received: (number: number, id: number, text: string) => pendingRequests.get(id)?.(number, text),
    collect(): Promise<string> {
      lastId += 1;
      const id = lastId;
      const expectedPeers = listPeers();
      const texts = new Map<number, string>();
      return new Promise((resolve) => {
        const finish = () => {
          clearTimeout(timer);
          pendingRequests.delete(id);
          const sortedTexts = [...texts].sort(([a], [b]) => a - b);
          resolve(mergeMetrics(sortedTexts.map(([, text]) => text)));
        };
        const timer = setTimeout(finish, RESPONSE_MS);
        pendingRequests.set(id, (number, text) => {
          texts.set(number, text);
          if (texts.size === expectedPeers.length) finish();
        });
        for (const peer of expectedPeers) peer.request(id);
      });
    },
  };
}
