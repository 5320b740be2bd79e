// Preloaded into the attacked server. It rejects connections to other machines, because fuzzed requests
// contain addresses that the server calls, such as webhook endpoints. Names other than localhost do not
// resolve.
import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';

const isLocal = (host) =>
  host === undefined || host === 'localhost' || host === '::1' || /^127\./.test(host);

function createFailure(code, host) {
  return Object.assign(new Error(`${code} ${host}`), { code, hostname: host });
}

const { lookup } = dns;
const lookupPromise = dns.promises.lookup;

dns.lookup = (host, options, callback) => {
  const onLookup = typeof options === 'function' ? options : callback;
  if (!isLocal(host) && !net.isIP(host)) {
    return void process.nextTick(onLookup, createFailure('ENOTFOUND', host));
  }
  return typeof options === 'function' ? lookup(host, options) : lookup(host, options, callback);
};
dns.promises.lookup = async (host, options) => {
  if (!isLocal(host) && !net.isIP(host)) throw createFailure('ENOTFOUND', host);
  return lookupPromise(host, options);
};

const { connect } = net.Socket.prototype;
net.Socket.prototype.connect = function connectLocally(...args) {
  const options = Array.isArray(args[0]) ? args[0][0] : args[0];
  const { host, path } = typeof options === 'object' && options !== null ? options : {};
  if (path === undefined && net.isIP(host ?? '') && !isLocal(host)) {
    process.nextTick(() => this.destroy(createFailure('ENETUNREACH', host)));
    return this;
  }
  return connect.apply(this, args);
};
syncBuiltinESMExports();
