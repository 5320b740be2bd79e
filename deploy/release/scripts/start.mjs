// The start of a server process in a release, which has the path of the start script of a checkout,
// because the supervisor of several processes starts it by that path.
const { main } = await import('../server/dist/main.js');
await main(process.argv.slice(2));
