// Estimates how easily a password can be guessed. The module is separate, because the rules load it on first
// use. The packages are imported statically, because a dynamic import of a CommonJS package in a bundle has
// no named exports.
import { ZxcvbnFactory } from '@zxcvbn-ts/core';
import { dictionary, adjacencyGraphs as graphs } from '@zxcvbn-ts/language-common';

const factory = new ZxcvbnFactory({ graphs, dictionary });

/** Score from 0, easily guessed, to 4. An attacker tries `words` first. */
export const scoreOf = (password: string, words: string[]): number =>
  factory.check(password, words).score;
