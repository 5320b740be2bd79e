// Starts a server process of a release. This file has the same path as the start script of a
// checkout, because the supervisor starts its processes by this path.
const { main } = await import('../server/dist/main.js');
await main(process.argv.slice(2));
