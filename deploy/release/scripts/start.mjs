// Starts a server process of a release. The path is that of the start script of a checkout, because the
// supervisor starts its processes by this path.
const { main } = await import('../server/dist/main.js');
await main(process.argv.slice(2));
