// Strings that are hard on a tokenizer, from a fixed seed.
import {readFileSync} from 'node:fs';

// mulberry32
export function generator(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const SPACES = [...' \t\n\v\f\r\u0085\u00a0\u1680\u180e\u2000\u2003\u200a\u200b\u2028\u2029\u202f\u205f\u3000\ufeff'];
const CONTRACTIONS = ["'s", "'S", "'t", "'T", "'re", "'RE", "'rE", "'ve", "'m", "'ll", "'LL", "'d", "'D", "'\u017f",
  '\u2019s', "'", "''", "'x"];
const EMOJI = ['\u{1f44d}\u{1f3fd}', '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}', '\u2764\ufe0f', '\u{1f1e9}\u{1f1ea}',
  '1\ufe0f\u20e3', '\u{1f3f4}\u{e0067}\u{e0062}\u{e007f}', '\u{1f926}\u{1f3fb}\u200d\u2642\ufe0f'];
const DIGITS = ['0', '9', '42', '123', '1234', '1234567', '0x1f', '\u0661\u0662\u0663\u0664', '\u096a\u096b', '\u{1d7ce}\u{1d7cf}',
  '\u00b2', '\u00bd', '\u2160', '\u2460', '\uff11\uff12\uff13\uff14', '\u0e51'];
const PUNCTUATION = [...'.,;:!?()[]{}<>|/\\@#$%^&*-_=+~`"', '...', '->', '::', '//', '/*', '\u2014', '\u00bf', '\u3002', '\u{10100}'];
const COMPOSING = ['e\u0301', '\u00e9', 'o\u0308\u0304', '\u0958', '\u1112\u1161\u11ab', '\uac00\u11a8', '\u212b', '\u2126',
  '\u0344', '\u0f73', '\u3099', '\u304b\u3099', 'a\u0323\u0302', 'a\u0302\u0323', '\u1e9b\u0323', '\u0340', '\ufb1d', '\u2adc'];
const WORDS = readFileSync(new URL('../fixtures/make.py', import.meta.url), 'utf8').split(/\s+/).filter((x) => x);
const SOURCE = readFileSync(new URL('strings.mjs', import.meta.url), 'utf8') +
  readFileSync(new URL('encode_lines.cpp', import.meta.url), 'utf8');

// `assigned`: [first, last] code points to draw from; `markers`: strings of added tokens.
export class Strings {
  constructor(seed, assigned, markers) {
    this.random = generator(seed);
    // Large blocks would drown the small scripts, so each range counts for at most 256.
    this.ranges = assigned.filter(([first]) => first < 0xe000 || (first >= 0xf900 && first < 0xf0000));
    this.markers = markers;
    this.sources = [() => this.pick(SPACES), () => this.pick(CONTRACTIONS), () => this.pick(EMOJI), () => this.pick(DIGITS),
      () => this.pick(PUNCTUATION), () => this.pick(COMPOSING), () => this.pick(WORDS), () => this.pick(WORDS), () => this.marker(),
      () => this.letters(), () => this.character(), () => this.mark(), () => ' ', () => this.code(), () => this.long()];
  }
  below(n) { return Math.floor(this.random() * n); }
  pick(list) { return list[this.below(list.length)]; }
  repeat(most, make) {
    let out = '';
    for (let n = this.below(most) + 1; n > 0; --n) out += make();
    return out;
  }
  character() {
    const [first, last] = this.pick(this.ranges);
    return String.fromCodePoint(first + this.below(last - first + 1));
  }
  // A run from one script: neighbours of a random character.
  letters() {
    const [first, last] = this.pick(this.ranges);
    const from = first + this.below(last - first + 1);
    return this.repeat(8, () => String.fromCodePoint(Math.min(last, from + this.below(24))));
  }
  mark() { return this.repeat(3, () => String.fromCodePoint(0x300 + this.below(0x70))); }
  marker() {
    const marker = this.pick(this.markers);
    return this.random() < 0.7 ? marker : marker.slice(0, this.below(marker.length));
  }
  code() {
    const at = this.below(SOURCE.length);
    return SOURCE.slice(at, at + this.below(60));
  }
  // Long runs are rare: they cost time, and say the same each time.
  long() {
    if (this.random() > 0.05) return this.pick(WORDS);
    return (this.random() < 0.5 ? this.pick(SPACES) : this.character()).repeat(this.below(300));
  }
  next() {
    // Some strings stay with few sources, so that their runs interact.
    const few = [this.pick(this.sources), this.pick(this.sources), this.pick(this.sources)];
    const sources = this.random() < 0.5 ? few : this.sources;
    return this.repeat(12, () => this.pick(sources)());
  }
}
