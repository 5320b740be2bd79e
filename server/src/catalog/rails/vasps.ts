// Exchanges and custodians for `vaspName`, sorted by name. A wallet with a `vaspName` is custodial,
// so no proof of ownership of its keys is required.

interface Vasp {
  readonly vaspName: string;
  readonly url: string;
}

const LIST = `Anchorage Digital=anchorage.com|Binance=binance.com|BitGo=bitgo.com
Bitfinex=bitfinex.com|Bitpanda=bitpanda.com|Bitso=bitso.com|Bitstamp=bitstamp.net
Bitvavo=bitvavo.com|Bybit=bybit.com|Coinbase=coinbase.com|Coins.ph=coins.ph|Crypto.com=crypto.com
Fireblocks=fireblocks.com|Gemini=gemini.com|Kraken=kraken.com|KuCoin=kucoin.com
Mercado Bitcoin=mercadobitcoin.com.br|OKX=okx.com|Paxos=paxos.com|Revolut=revolut.com
Robinhood=robinhood.com|Upbit=upbit.com`;

export const VASPS: readonly Vasp[] = LIST.split(/[|\n]/)
  .map((entry) => {
    const [vaspName = '', host = ''] = entry.split('=');
    return { vaspName, url: `https://${host}` };
  })
  .sort((a, b) => (a.vaspName < b.vaspName ? -1 : 1));

const NAMES = new Set(VASPS.map((vasp) => vasp.vaspName));

export const isVasp = (name: string): boolean => NAMES.has(name);
