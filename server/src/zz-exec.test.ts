import { it } from 'vitest';
import { startApp } from '../test/harness.ts';
import { customer, fund, internalAccount, ok, quoteBody } from '../test/fixtures.ts';
it('bench', async () => {
  const app = await startApp();
  const pairs: [string, string][] = [];
  for (let i = 0; i < 40; i++) {
    const a = await customer(app); const b = await customer(app);
    const x = await internalAccount(app, a.id, 'USD'); const y = await internalAccount(app, b.id, 'USD');
    await fund(app, x.id, 1e11); pairs.push([x.id, y.id]);
  }
  const N = 4000;
  for (let round = 0; round < 4; round++) {
    const quotes: string[] = [];
    let i = 0;
    await Promise.all(Array.from({ length: 64 }, async () => { while (i < N) { const [x, y] = pairs[i++ % pairs.length]!; quotes.push(ok(await app.call('POST', '/quotes', quoteBody(x, y, 100)), 201).id); } }));
    const t = performance.now(); const c0 = process.cpuUsage(); let j = 0;
    await Promise.all(Array.from({ length: 64 }, async () => { while (j < quotes.length) ok(await app.call('POST', `/quotes/${quotes[j++]}/execute`, undefined, { headers: { 'idempotency-key': `k${round}-${j}` } }), 200); }));
    const s = (performance.now() - t) / 1000; const c = process.cpuUsage(c0);
    console.log('EXEC/s', Math.round(quotes.length / s), 'cpu us/op', Math.round((c.user + c.system) / quotes.length));
  }
  await app.close();
}, 120000);
