// Merged metrics of several processes.
import { describe, expect, it } from 'vitest';
import { createCollection, mergeMetrics } from './metrics.ts';

const textOf = (process: number) =>
  `# HELP a Help.\n# TYPE a gauge\na{process="${process}"} ${process}\n\n` +
  `# HELP b Help.\n# TYPE b counter\nb{process="${process}"} 1\n`;

describe('metrics of several processes', () => {
  it('have one header for each metric', () => {
    expect(mergeMetrics([textOf(1), textOf(2)])).toBe(
      '# HELP a Help.\n# TYPE a gauge\na{process="1"} 1\na{process="2"} 2\n\n' +
        '# HELP b Help.\n# TYPE b counter\nb{process="1"} 1\nb{process="2"} 1\n',
    );
  });

  it('omit a process that does not respond', async () => {
    const collection = createCollection(() => [
      { number: 1, request: (id) => void collection.received(1, id, textOf(1)) },
      { number: 2, request: () => undefined },
    ]);
    expect(await collection.collect()).toBe(textOf(1));
  });
});
